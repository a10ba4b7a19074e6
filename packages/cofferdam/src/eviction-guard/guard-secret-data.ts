import { createPrivateKey, X509Certificate } from 'node:crypto'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { guardSecretFields as fields } from './domain/guard-secret.ts'
import type { CertifiedKey } from './self-signed-certificate.ts'

/** What the guard's Secret holds. */
export interface HeldCertificates {
  readonly signer: CertifiedKey
  readonly serving: CertifiedKey
  /** Announced, and signing nothing yet. */
  readonly next: CertifiedKey | undefined
  /** PEM of authorities that signed before and are still trusted. */
  readonly former: readonly string[]
}

type SecretData = Readonly<Record<string, string>>

/**
 * Reads the Secret; undefined when it holds nothing yet.
 *
 * Fails closed: keys that do not belong to their certificates, or a certificate that its authority did not sign, count as
 * unreadable.
 */
export function parseGuardSecret(data: SecretData | undefined): Observed<HeldCertificates | undefined> {
  if (data === undefined) return known(undefined)
  const parsed = parsedBefore.get(data) ?? parseFields(data)
  // Only what nobody can change still says what it said.
  if (Object.isFrozen(data)) parsedBefore.set(data, parsed)
  return parsed
}

/** Reading keys and certificates is slow, and the Secret is polled. */
const parsedBefore = new WeakMap<SecretData, Observed<HeldCertificates | undefined>>()

function parseFields(data: SecretData): Observed<HeldCertificates | undefined> {
  try {
    const [signing, ...others] = certificatesIn(textOf(data, fields.authorities))
    if (signing === undefined) return unknown(`${fields.authorities} holds no certificate`)
    const signer = matched(signing, textOf(data, fields.signingKey))
    const serving = matched(textOf(data, fields.certificate), textOf(data, fields.key))
    const next =
      data[fields.nextAuthority] === undefined
        ? undefined
        : matched(textOf(data, fields.nextAuthority), textOf(data, fields.nextKey))
    const authority = new X509Certificate(signer.certificatePem)
    if (!new X509Certificate(serving.certificatePem).verify(authority.publicKey)) {
      return unknown(`${fields.certificate} was not signed by the first authority of ${fields.authorities}`)
    }
    return known({ signer, serving, next, former: others.filter((each) => each !== next?.certificatePem) })
  } catch (error) {
    return unknown(error instanceof Error ? error.message : String(error))
  }
}

export function buildGuardSecretData({ signer, serving, next, former }: HeldCertificates): SecretData {
  const authorities = [signer.certificatePem, ...(next === undefined ? [] : [next.certificatePem]), ...former]
  const texts = {
    [fields.authorities]: authorities.join(''),
    [fields.signingKey]: signer.privateKeyPem,
    [fields.certificate]: serving.certificatePem,
    [fields.key]: serving.privateKeyPem,
    ...(next === undefined
      ? {}
      : { [fields.nextAuthority]: next.certificatePem, [fields.nextKey]: next.privateKeyPem }),
  }
  return Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, Buffer.from(text).toString('base64')]))
}

/** What a server needs of the Secret. */
export interface ServedSecret {
  readonly serving: CertifiedKey
  /** Of those that sign now or will: the API server's path is made of one of them. */
  readonly signingKeys: readonly string[]
}

/** Undefined while there is nothing that a server could serve with. */
export function servedSecretOf(data: SecretData | undefined): ServedSecret | undefined {
  const held = parseGuardSecret(data)
  if (!held.known || held.value === undefined) return undefined
  const { serving, signer, next } = held.value
  return { serving, signingKeys: [signer, ...(next === undefined ? [] : [next])].map((each) => each.privateKeyPem) }
}

function textOf(data: SecretData, field: string): string {
  const value = data[field]
  if (value === undefined) throw new Error(`${field} is missing`)
  return Buffer.from(value, 'base64').toString('utf8')
}

function certificatesIn(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => `${block}\n`)
}

function matched(certificatePem: string, privateKeyPem: string): CertifiedKey {
  const certificate = new X509Certificate(certificatePem)
  if (!certificate.checkPrivateKey(createPrivateKey(privateKeyPem))) {
    throw new Error(`the key of "${certificate.subject}" belongs to another certificate`)
  }
  return { certificatePem, privateKeyPem }
}
