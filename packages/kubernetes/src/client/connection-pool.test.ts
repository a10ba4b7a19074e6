import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import {
  type CertifiedKey,
  createCertificateAuthority,
  issueServerCertificate,
} from '@cofferdam/product/eviction-guard/self-signed-certificate.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configMaps } from '../api/resources.ts'
import type { CofferdamError } from '../errors.ts'
import { seededRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { createHttpKubeApi } from './http-kube-api.ts'
import type { WatchEvent } from './kube-api.ts'
import { scratchFolder } from './testing/scratch-folder.ts'
import { answerJson, type Script, startScriptedServer } from './testing/scripted-server.ts'

const key = { namespace: 'ns', name: 'a' }
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }
const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
const authority = createCertificateAuthority({ commonName: 'the cluster', ...validity })
const otherAuthority = createCertificateAuthority({ commonName: 'another cluster', ...validity })

const issue = (from: CertifiedKey, commonName: string, hosts: readonly string[] = ['127.0.0.1']) =>
  issueServerCertificate({ authority: from, commonName, hosts, ...validity })
const shown = ({ certificatePem, privateKeyPem }: CertifiedKey) => ({ cert: certificatePem, key: privateKeyPem })
const text = (pem: string) => ({ text: pem, origin: 'k: field' })
const trusting = (from: CertifiedKey) => ({ certificateAuthority: text(from.certificatePem) })

/** The clock of these stories; files are looked at again after ten seconds of it. */
function steppingClock() {
  let aheadMs = 0
  return {
    clock: { ...realClock, now: () => realClock.now() + aheadMs },
    step: () => {
      aheadMs += 60_000
    },
  }
}

function openApi(config: ClusterConnection, clock = realClock) {
  const api = createHttpKubeApi({ config, clock, random: seededRandom(1) })
  onTestFinished(() => api.close())
  return api
}

const answer: Script = ({ query }, response) => {
  if (query['watch'] === undefined) answerJson(response, settings)
  else response.write(`${JSON.stringify({ type: 'ADDED', object: settings })}\n`)
}

function startTls(certificate: CertifiedKey, script = answer) {
  return startScriptedServer(script, { ...shown(certificate), requestCert: true, rejectUnauthorized: false })
}

async function failure(work: Promise<unknown>): Promise<CofferdamError> {
  return work.then(
    () => {
      throw new Error('it should have failed')
    },
    (error: unknown) => error as CofferdamError,
  )
}

describe('whom we trust', () => {
  it('a server whose certificate the authority signed', async () => {
    const server = await startTls(issue(authority, 'api'))
    expect(await openApi(server.connection(trusting(authority))).get(configMaps, key)).toEqual(settings)
  })

  it('nobody whom another authority signed, with a hint at the field', async () => {
    const server = await startTls(issue(otherAuthority, 'api'))
    const error = await failure(openApi(server.connection(trusting(authority))).get(configMaps, key))
    expect(error.code).toBe('API_UNREACHABLE')
    expect(error.hint).toContain('certificate-authority')
    expect(server.requests).toEqual([])
  })

  it('nobody under another name, unless tls-server-name says so', async () => {
    const server = await startTls(issue(authority, 'api', ['api.internal']))
    const error = await failure(openApi(server.connection(trusting(authority))).get(configMaps, key))
    expect(error.hint).toContain('tls-server-name')
    const named = server.connection({ ...trusting(authority), tlsServerName: 'api.internal' })
    expect(await openApi(named).get(configMaps, key)).toEqual(settings)
  })

  it('anybody when told so', async () => {
    const server = await startTls(issue(otherAuthority, 'api'))
    const api = openApi(server.connection({ insecureSkipTlsVerify: true }))
    expect(await api.get(configMaps, key)).toEqual(settings)
  })

  it('a port without TLS is told as one', async () => {
    const server = await startScriptedServer(answer)
    const error = await failure(
      openApi(server.connection({ server: server.url.replace('http:', 'https:') })).get(configMaps, key),
    )
    expect(error.hint).toContain('does not speak TLS')
  })
})

describe('certificates that change', () => {
  it('a new authority in the file is trusted from the next request on, also right after a failure', async () => {
    const folder = await scratchFolder({ 'ca.crt': authority.certificatePem })
    const path = join(folder, 'ca.crt')
    const server = await startTls(issue(authority, 'api'))
    const api = openApi(server.connection({ certificateAuthority: { path, origin: 'k: certificate-authority' } }))
    await api.get(configMaps, key)
    server.changeCertificate(shown(issue(otherAuthority, 'api')))
    expect((await failure(api.create(configMaps, settings))).code).toBe('API_UNREACHABLE')
    await writeFile(path, otherAuthority.certificatePem)
    expect(await api.get(configMaps, key)).toEqual(settings)
  })

  it('a new client certificate is shown from the next request on, and watches under way go on', async () => {
    const [first, second] = [issue(authority, 'first'), issue(authority, 'second')]
    const folder = await scratchFolder({ cert: first.certificatePem, key: first.privateKeyPem })
    let push = () => {}
    const server = await startTls(issue(authority, 'api'), (request, response, count) => {
      answer(request, response, count)
      if (request.query['watch'] !== undefined) {
        push = () => response.end(`${JSON.stringify({ type: 'MODIFIED', object: settings })}\n`)
      }
    })
    const { clock, step } = steppingClock()
    const api = openApi(
      server.connection({
        ...trusting(authority),
        clientCertificate: {
          certificate: { path: join(folder, 'cert'), origin: 'k: client-certificate' },
          key: { path: join(folder, 'key'), origin: 'k: client-key' },
        },
      }),
      clock,
    )
    const watch = api.watch(configMaps)[Symbol.asyncIterator]() as AsyncIterator<WatchEvent>
    expect(await watch.next()).toMatchObject({ value: { type: 'ADDED' } })

    await writeFile(join(folder, 'cert'), second.certificatePem)
    step()
    await api.get(configMaps, key)
    await writeFile(join(folder, 'key'), second.privateKeyPem)
    step()
    await api.get(configMaps, key)
    await api.get(configMaps, key)
    push()
    expect(await watch.next()).toMatchObject({ value: { type: 'MODIFIED' } })
    expect(await watch.next()).toMatchObject({ done: true })
    // While only one of the two files was new, the old pair was still in use.
    expect(server.requests.map(({ peer }) => peer)).toEqual(['first', 'first', 'second', 'second'])
  })

  it('a plugin may hand out the client certificate', async () => {
    const pair = issue(authority, 'from the plugin')
    const credential = {
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      status: { clientCertificateData: pair.certificatePem, clientKeyData: pair.privateKeyPem },
    }
    const folder = await scratchFolder({ 'plugin.mjs': `console.log(${JSON.stringify(JSON.stringify(credential))})` })
    const server = await startTls(issue(authority, 'api'))
    const api = openApi(
      server.connection({
        ...trusting(authority),
        authentication: {
          kind: 'exec',
          plugin: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: process.execPath,
            args: [join(folder, 'plugin.mjs')],
            environment: {},
            interactiveMode: 'Never',
            provideClusterInfo: true,
          },
        },
      }),
    )
    await api.get(configMaps, key)
    expect(server.requests.map(({ peer }) => peer)).toEqual(['from the plugin'])
  })
})

describe('certificates that cannot be used', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  const pair = issue(authority, 'client')
  const cases: Record<string, { readonly given: Partial<ClusterConnection>; readonly says: string }> = {
    'an authority of garbage': {
      given: { certificateAuthority: text(broken) },
      says: 'k: field holds no certificate that can be read',
    },
    'a client certificate of garbage': {
      given: { clientCertificate: { certificate: text(broken), key: text(pair.privateKeyPem) } },
      says: 'k: field is not a certificate in PEM',
    },
    'a client key of another certificate': {
      given: { clientCertificate: { certificate: text(pair.certificatePem), key: text(otherAuthority.privateKeyPem) } },
      says: 'k: field and the client key beside it cannot be read or do not belong together',
    },
  }
  for (const [scenario, { given, says }] of Object.entries(cases)) {
    it(`${scenario} is told by its field before anything is sent`, async () => {
      const server = await startTls(issue(authority, 'api'))
      const error = await failure(openApi(server.connection(given)).get(configMaps, key))
      expect({ code: error.code, message: error.message }).toEqual({ code: 'KUBECONFIG_INVALID', message: says })
    })
  }
})

describe('a proxy', () => {
  async function startProxy() {
    const targets: (string | undefined)[] = []
    const proxy = createServer()
    proxy.on('connect', (request, socket) => {
      targets.push(request.url)
      const [host, port] = (request.url ?? '').split(':')
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    return { targets, proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
  }

  it('carries requests over TLS, with the certificate checked behind it', async () => {
    const { targets, proxyUrl } = await startProxy()
    const server = await startTls(issue(authority, 'api'))
    const api = openApi(server.connection({ ...trusting(authority), proxyUrl }))
    expect(await api.get(configMaps, key)).toEqual(settings)
    const distrusting = openApi(server.connection({ ...trusting(otherAuthority), proxyUrl }))
    expect((await failure(distrusting.get(configMaps, key))).code).toBe('API_UNREACHABLE')
    expect(targets).toEqual([`127.0.0.1:${server.port}`, `127.0.0.1:${server.port}`])
  })
})
