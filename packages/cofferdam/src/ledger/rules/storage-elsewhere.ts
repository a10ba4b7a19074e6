import type { Ledger, LedgerEntry } from './ledger.ts'
import { storageKeyPrefix } from './storage-arbiter.ts'

/** Scopes that are too long to be written out say nothing about names. */
const shortened = /^\d+-domains-[0-9a-f]{32}$/

/**
 * Who holds another failure domain of the storage in this namespace than those given: an OSD of these would be the first of a second domain.
 *
 * Fails open: without a name for either, the budgets decide alone. Whoever is gone keeps nobody waiting here.
 */
export function heldElsewhere(
  { entries }: Pick<Ledger, 'entries'>,
  { namespace, failureDomains }: { readonly namespace: string; readonly failureDomains: readonly string[] },
): LedgerEntry | undefined {
  if (failureDomains.length === 0) return undefined
  const prefix = storageKeyPrefix(namespace)
  return entries.find(
    ({ key, scope, state }) =>
      key.startsWith(prefix) &&
      scope !== '' &&
      state !== 'Orphaned' &&
      !shortened.test(scope) &&
      !scope.split('+').some((domain) => failureDomains.includes(domain)),
  )
}
