import { createCertificateAuthority, issueServerCertificate } from '../../eviction-guard/self-signed-certificate.ts'

const dayMs = 86_400_000

/** A certificate for a server on this machine, and the authority by which clients know it. */
export function createDemoCertificate(nowMs: number) {
  const validity = { notBeforeMs: nowMs - dayMs, notAfterMs: nowMs + 365 * dayMs }
  const authority = createCertificateAuthority({ commonName: 'cofferdam-demo-ca', ...validity })
  const hosts = ['127.0.0.1', 'localhost']
  const issued = issueServerCertificate({ authority, commonName: 'cofferdam-demo', hosts, ...validity })
  return {
    tls: { cert: issued.certificatePem, key: issued.privateKeyPem },
    certificateAuthority: authority.certificatePem,
  }
}
