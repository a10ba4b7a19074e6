import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { elementsOf } from './der.ts'
import { createCertificateAuthority, issueServerCertificate } from './self-signed-certificate.ts'

const validity = { notBeforeMs: Date.UTC(2020, 0, 1), notAfterMs: Date.UTC(2060, 0, 1) }
const authority = createCertificateAuthority({ commonName: 'cofferdam test authority', ...validity })
const hosts = ['localhost', 'guard.cofferdam.svc', '127.0.0.1', '::1', 'fe80::1:2', '::ffff:10.0.0.1']
const issued = issueServerCertificate({ authority, commonName: 'guard', hosts, ...validity })

describe('a certificate authority', () => {
  it('signs for itself and may sign for others', () => {
    const certificate = new X509Certificate(authority.certificatePem)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect([certificate.ca, certificate.subject, certificate.issuer]).toEqual([
      true,
      'CN=cofferdam test authority',
      'CN=cofferdam test authority',
    ])
  })
})

describe('an issued certificate', () => {
  const certificate = new X509Certificate(issued.certificatePem)

  it('is signed by the authority, names it as its issuer, and may not sign itself', () => {
    const root = new X509Certificate(authority.certificatePem)
    expect([certificate.verify(root.publicKey), certificate.checkIssued(root), certificate.ca]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('lasts as long as it was asked to, beyond the year 2050 too', () => {
    expect([certificate.validFrom, certificate.validTo]).toEqual([
      'Jan  1 00:00:00 2020 GMT',
      'Jan  1 00:00:00 2060 GMT',
    ])
  })

  it('is good for each of its hosts and for no other', () => {
    expect(certificate.checkHost('guard.cofferdam.svc')).toBe('guard.cofferdam.svc')
    expect(certificate.checkHost('elsewhere')).toBeUndefined()
    expect(['127.0.0.1', '::1', 'fe80::1:2', '127.0.0.2'].map((ip) => certificate.checkIP(ip))).toEqual([
      '127.0.0.1',
      '::1',
      'fe80::1:2',
      undefined,
    ])
  })

  it('belongs to the key it came with', () => {
    expect(certificate.checkPrivateKey(createPrivateKey(issued.privateKeyPem))).toBe(true)
  })

  it('two certificates of one authority have different serial numbers', () => {
    const other = issueServerCertificate({ authority, commonName: 'guard', hosts, ...validity })
    expect(new X509Certificate(other.certificatePem).serialNumber).not.toBe(certificate.serialNumber)
  })

  it('is accepted by a TLS client that trusts the authority, and by no other', async () => {
    const server = createServer({ cert: issued.certificatePem, key: issued.privateKeyPem }, (_, response) => {
      response.end('hello')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const stranger = createCertificateAuthority({ commonName: 'stranger', ...validity })
    try {
      expect(await statusOf(port, authority.certificatePem)).toBe(200)
      await expect(statusOf(port, stranger.certificatePem)).rejects.toThrow()
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
})

describe('elementsOf', () => {
  it('says so when bytes are missing', () => {
    expect(() => elementsOf(Buffer.of(0x30, 0x05, 0x01))).toThrow('ends before its length says')
  })
})

function statusOf(port: number, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, ca, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}
