/** Where the guard's authority and certificate are kept. */
export const guardSecret = { namespace: 'cofferdam-system', name: 'cofferdam-guard-tls' } as const

/** The fields of the Secret, each PEM. */
export const guardSecretFields = {
  /** Every authority to trust; the one that signs comes first. */
  authorities: 'ca.crt',
  signingKey: 'ca.key',
  /** Announced to the API server, signs nothing yet. */
  nextAuthority: 'next-ca.crt',
  nextKey: 'next-ca.key',
  certificate: 'tls.crt',
  key: 'tls.key',
} as const
