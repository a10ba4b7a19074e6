import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KeyFacts } from '../../capabilities/drain-lock/domain/orphans.ts'
import { observeKeys } from '../../capabilities/drain-lock/observe/keys.ts'
import type { HoldView } from '../../capabilities/drain-lock/view/hold-view.ts'
import type { Reader } from '../../observe/reader.ts'
import { unknown } from '../../shared/observed.ts'

/** What is behind the keys that vanished holders left; asked only where there are any. */
export async function observeOrphans(
  { api, notSeen, signal }: Pick<Reader, 'api' | 'notSeen' | 'signal'>,
  { ledger }: HoldView,
): Promise<ReadonlyMap<string, KeyFacts>> {
  const orphans = ledger.known ? ledger.value.entries.filter(({ state }) => state === 'Orphaned') : []
  if (orphans.length === 0) return new Map()
  const observeStorage = async (about: { readonly node: string } | { readonly key: string }) =>
    'key' in about ? [{ key: about.key, uid: '', failureDomain: '', mayGo: unasked, isClean: unasked }] : []
  return (
    (await ifAllowed('the objects of orphaned holds', notSeen, () =>
      observeKeys({ api, observeStorage }, orphans, signal),
    )) ?? new Map<string, KeyFacts>()
  )
}

const unasked = unknown('only the operator asks')
