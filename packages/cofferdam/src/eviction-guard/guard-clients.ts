import { X509Certificate } from 'node:crypto'

/** From whom reviews are taken: clients with a certificate of an authority, where the administrator gave the API server one. */
export interface GuardClients {
  /** PEM of the authorities. */
  readonly authorities: string
  /** Common names; empty: every certificate of these authorities will do. */
  readonly names: readonly string[]
}

/** What must be known of a connection. */
export interface PresentedCertificate {
  /** Whether one of the authorities signed it, and it is in force. */
  readonly isVerified: boolean
  readonly commonName: string | undefined
}

/** Why a client is turned away; undefined: it is not. */
export function clientRefusal({ names }: GuardClients, { isVerified, commonName }: PresentedCertificate) {
  if (!isVerified) return 'reviews are taken from clients with a certificate of --guard-client-ca alone'
  if (names.length > 0 && !names.includes(commonName ?? '')) {
    return 'the client certificate is for a name that --guard-client-name does not have'
  }
  return undefined
}

/** Reads what is in the file of `--guard-client-ca`. Throws, since a guard that trusts no client would refuse every review. */
export function parseClientAuthorities(pem: string): string {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('it holds no certificate')
  for (const block of blocks) new X509Certificate(block)
  return blocks.join('\n')
}
