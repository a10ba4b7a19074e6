import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CertifiedKey,
  createCertificateAuthority,
  issueServerCertificate,
} from '@cofferdam/product/eviction-guard/self-signed-certificate.ts'

/** Who may speak to the API server before any account exists. */
type Person = 'admin' | 'controllerManager' | 'scheduler'

/** Somebody with no more rights than the groups give. */
export interface OtherUser {
  readonly name: string
  readonly groups: readonly string[]
}

const people: Readonly<Record<Person, string>> = {
  admin: 'lab-admin',
  controllerManager: 'system:kube-controller-manager',
  scheduler: 'system:kube-scheduler',
}

/** Keys, certificates and tokens of one control plane, as files that its daemons read. */
export interface Credentials {
  readonly authority: CertifiedKey
  readonly tokens: Readonly<Record<Person, string>>
  /** Tokens of the others, by their names. */
  readonly tokensOfOthers: ReadonlyMap<string, string>
  readonly files: {
    readonly authority: string
    readonly serverCertificate: string
    readonly serverKey: string
    readonly accountKey: string
    readonly accountPublicKey: string
    readonly tokens: string
  }
}

export async function writeCredentials(folder: string, others: readonly OtherUser[] = []): Promise<Credentials> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const now = Date.now()
  const validity = { notBeforeMs: now - 3_600_000, notAfterMs: now + 7 * 24 * 3_600_000 }
  const authority = createCertificateAuthority({ commonName: 'lab-ca', ...validity })
  const server = issueServerCertificate({
    authority,
    commonName: 'kube-apiserver',
    hosts: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '127.0.0.1', '10.0.0.1'],
    ...validity,
  })
  const accounts = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const tokens = { admin: newToken(), controllerManager: newToken(), scheduler: newToken() }
  const tokenLines = Object.entries(people).map(
    ([person, user]) => `${tokens[person as Person]},${user},${person},"system:masters"\n`,
  )
  const tokensOfOthers = new Map(others.map(({ name }) => [name, newToken()]))
  for (const { name, groups } of others)
    tokenLines.push(`${tokensOfOthers.get(name)},${name},${name},"${groups.join(',')}"\n`)
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content, { mode: 0o600 })
    return path
  }
  return {
    authority,
    tokens,
    tokensOfOthers,
    files: {
      authority: await write('ca.crt', authority.certificatePem),
      serverCertificate: await write('server.crt', server.certificatePem),
      serverKey: await write('server.key', server.privateKeyPem),
      accountKey: await write('accounts.key', accounts.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
      accountPublicKey: await write(
        'accounts.pub',
        accounts.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      ),
      tokens: await write('tokens.csv', tokenLines.join('')),
    },
  }
}

function newToken(): string {
  return randomBytes(24).toString('hex')
}
