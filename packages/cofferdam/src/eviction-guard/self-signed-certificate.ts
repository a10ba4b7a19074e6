import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import * as der from './der.ts'

/** A certificate and the key that goes with it, both in PEM. */
export interface CertifiedKey {
  readonly certificatePem: string
  readonly privateKeyPem: string
}

export interface Validity {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** A new certificate authority that signs for itself. Its certificate is what `caBundle` carries. */
export function createCertificateAuthority({
  commonName,
  ...validity
}: { commonName: string } & Validity): CertifiedKey {
  const { publicKey, privateKeyPem } = newKey()
  const name = nameOf(commonName)
  const certificatePem = signedCertificate({
    issuer: name,
    subject: name,
    publicKey,
    signingKeyPem: privateKeyPem,
    validity,
    extensions: [
      basicConstraints(true),
      // keyCertSign and cRLSign
      keyUsage(0b0000_0110, 1),
      subjectKeyIdentifier(publicKey),
      authorityKeyIdentifier(publicKey),
    ],
  })
  return { certificatePem, privateKeyPem }
}

/** A new server certificate, signed by the authority, good for the given host names and IP addresses; or one for a client. */
export function issueServerCertificate(
  request: {
    authority: CertifiedKey
    commonName: string
    hosts: readonly string[]
    purpose?: 'serverAuth' | 'clientAuth'
  } & Validity,
): CertifiedKey {
  const { authority, commonName, hosts, purpose = 'serverAuth', ...validity } = request
  const issuer = new X509Certificate(authority.certificatePem)
  const { publicKey, privateKeyPem } = newKey()
  const certificatePem = signedCertificate({
    issuer: subjectOf(issuer),
    subject: nameOf(commonName),
    publicKey,
    signingKeyPem: authority.privateKeyPem,
    validity,
    extensions: [
      basicConstraints(false),
      // digitalSignature
      keyUsage(0b1000_0000, 7),
      extendedKeyUsage(purpose),
      subjectKeyIdentifier(publicKey),
      authorityKeyIdentifier(issuer.publicKey.export({ type: 'spki', format: 'der' })),
      alternativeNames(hosts),
    ],
  })
  return { certificatePem, privateKeyPem }
}

const oid = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
}

function newKey(): { publicKey: Buffer; privateKeyPem: string } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return {
    publicKey: pair.publicKey.export({ type: 'spki', format: 'der' }),
    privateKeyPem: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

interface Content {
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly publicKey: Buffer
  readonly signingKeyPem: string
  readonly validity: Validity
  readonly extensions: readonly Buffer[]
}

function signedCertificate(content: Content): string {
  const algorithm = der.sequence(der.objectIdentifier(oid.ecdsaWithSha256))
  const version3 = der.tagged(0, der.integer(Buffer.of(2)))
  const toBeSigned = der.sequence(
    version3,
    der.integer(serialNumber()),
    algorithm,
    content.issuer,
    der.sequence(der.time(content.validity.notBeforeMs), der.time(content.validity.notAfterMs)),
    content.subject,
    content.publicKey,
    der.tagged(3, der.sequence(...content.extensions)),
  )
  const signature = sign('sha256', toBeSigned, createPrivateKey(content.signingKeyPem))
  return pem(der.sequence(toBeSigned, algorithm, der.bitString(signature)))
}

/** Positive and not zero, with more than the 64 bits of chance that authorities must put in. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40
  return bytes
}

function nameOf(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.objectIdentifier(oid.commonName), der.utf8String(commonName))))
}

/** The issuer of a certificate is named with the very bytes of the authority's own name. */
function subjectOf(certificate: X509Certificate): Buffer {
  const [outer] = der.elementsOf(Buffer.from(certificate.raw))
  const [toBeSigned] = der.elementsOf((outer as der.DerElement).content)
  const fields = der.elementsOf((toBeSigned as der.DerElement).content)
  // version, serial number, algorithm, issuer, validity, subject
  return (fields[5] as der.DerElement).whole
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return der.sequence(der.objectIdentifier(id), ...(isCritical ? [der.boolean(true)] : []), der.octetString(value))
}

function basicConstraints(isAuthority: boolean): Buffer {
  return extension(oid.basicConstraints, isAuthority ? der.sequence(der.boolean(true)) : der.sequence(), true)
}

function keyUsage(bits: number, unusedBits: number): Buffer {
  return extension(oid.keyUsage, der.bitString(Buffer.of(bits), unusedBits), true)
}

function extendedKeyUsage(purpose: 'serverAuth' | 'clientAuth'): Buffer {
  return extension(oid.extendedKeyUsage, der.sequence(der.objectIdentifier(oid[purpose])))
}

function subjectKeyIdentifier(publicKey: Buffer): Buffer {
  return extension(oid.subjectKeyIdentifier, der.octetString(keyIdentifier(publicKey)))
}

function authorityKeyIdentifier(publicKey: Buffer): Buffer {
  return extension(oid.authorityKeyIdentifier, der.sequence(der.tagged(0, keyIdentifier(publicKey), 'primitive')))
}

/** Names a key; nothing rests on the hash being hard to break. */
function keyIdentifier(publicKey: Buffer): Buffer {
  const [outer] = der.elementsOf(publicKey)
  const [, key] = der.elementsOf((outer as der.DerElement).content)
  return createHash('sha1')
    .update((key as der.DerElement).content.subarray(1))
    .digest()
}

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 0
      ? der.tagged(2, Buffer.from(host, 'ascii'), 'primitive')
      : der.tagged(7, addressBytes(host), 'primitive'),
  )
  return extension(oid.subjectAltName, der.sequence(...names))
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head, tail] = address.split('::') as [string, string | undefined]
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const missing = tail === undefined ? 0 : 8 - before.length - after.length
  const zeros = Array.from({ length: missing }, () => 0)
  const bytes = Buffer.alloc(16)
  for (const [index, group] of [...before, ...zeros, ...after].entries()) bytes.writeUInt16BE(group, index * 2)
  return bytes
}

function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
