import { describe, expect, it } from 'vitest'
import { clientRefusal, type PresentedCertificate, parseClientAuthorities } from './guard-clients.ts'
import { createCertificateAuthority } from './self-signed-certificate.ts'

const named = ['kube-apiserver']
const cases: Record<string, readonly [names: readonly string[], PresentedCertificate, refused: RegExp | undefined]> = {
  'a certificate of the authority is enough where no name is asked for': [
    [],
    { isVerified: true, commonName: 'any' },
    undefined,
  ],
  'no certificate is refused, or any pod could speak for the API server': [
    [],
    { isVerified: false, commonName: undefined },
    /--guard-client-ca/,
  ],
  'the right name under another authority is refused: everybody can make that': [
    named,
    { isVerified: false, commonName: 'kube-apiserver' },
    /--guard-client-ca/,
  ],
  'another name of the authority is refused: kubelets may have certificates of it too': [
    named,
    { isVerified: true, commonName: 'system:node:a' },
    /--guard-client-name/,
  ],
  'a certificate without a name is refused where one is asked for': [
    named,
    { isVerified: true, commonName: undefined },
    /--guard-client-name/,
  ],
  'the API server’s own is taken': [named, { isVerified: true, commonName: 'kube-apiserver' }, undefined],
}

describe('a client of the guard', () => {
  it.each(Object.entries(cases))('%s', (_, [names, presented, refused]) => {
    const refusal = clientRefusal({ authorities: '', names }, presented)
    if (refused === undefined) expect(refusal).toBeUndefined()
    else expect(refusal).toMatch(refused)
  })
})

describe('the file of authorities', () => {
  const { certificatePem } = createCertificateAuthority({
    commonName: 'front',
    notBeforeMs: Date.UTC(2020, 0, 1),
    notAfterMs: Date.UTC(2060, 0, 1),
  })

  it('gives its certificates, and nothing of what stands beside them', () => {
    const pem = parseClientAuthorities(`# theirs\n${certificatePem}`)
    expect(pem.trim()).toBe(certificatePem.trim())
  })

  it.each([
    ['is empty', ''],
    ['holds no certificate', '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n'],
    ['holds a broken one', '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'],
  ])(
    'that %s is no such file: a guard that trusts no client refuses every eviction of a locked namespace',
    (_, pem) => {
      expect(() => parseClientAuthorities(pem)).toThrow()
    },
  )
})
