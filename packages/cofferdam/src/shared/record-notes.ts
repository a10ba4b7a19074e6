/** The annotations of the state ConfigMap that say what was decided last. */
export const recordNotes = {
  reason: 'cofferdam.io/reason',
  explanation: 'cofferdam.io/explanation',
  since: 'cofferdam.io/since',
  failureDomainType: 'cofferdam.io/failure-domain-type',
  domains: 'cofferdam.io/domains',
  problems: 'cofferdam.io/problems',
  budgets: 'cofferdam.io/budgets',
  updates: 'cofferdam.io/updates',
  silentSince: 'cofferdam.io/ceph-silent-since',
  cephLog: 'cofferdam.io/ceph-log',
  cephFacts: 'cofferdam.io/ceph-facts',
} as const
