import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import type { StorageObserver } from '../../../ledger/store/storage-observer.ts'
import { type DisruptionLedger, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import { createLeavingDecider } from '../domain/decide-leaving.ts'
import { createLonghornParser } from '../domain/parse-longhorn.ts'
import {
  indexLonghornStorage,
  longhornStorageFacts,
  longhornStorageKey,
  unknownLonghornStorage,
} from '../domain/storage-facts.ts'
import { type LonghornViews, observeLonghorn } from './observe.ts'

export interface LonghornStoragePorts {
  readonly clock: Clock
  readonly views: LonghornViews
  readonly ledgers: WatchView<DisruptionLedger>
}

const waitMs = 10_000
/** The server is heard more often than this, if only to say that nothing changed. */
const trustedMs = 240_000

/** What Longhorn has to do with a node, or with its key: seen and decided as longhorn-drain does, whoever is in charge of drains. */
export function createLonghornStorageFacts({ clock, views, ledgers }: LonghornStoragePorts): StorageObserver {
  const parse = createLonghornParser()
  const decide = createLeavingDecider()

  return {
    async observeStorage(about, signal) {
      if ('key' in about && about.key !== longhornStorageKey) return []
      const names = 'node' in about ? [about.node] : about.scopes
      await whenSynced(signal)
      const why = whyUnknown()
      if (why !== undefined) return names.map((node) => unknownLonghornStorage(node, why))
      const found = observeLonghorn(views, clock.now())
      if (!found.known) return names.map((node) => unknownLonghornStorage(node, found.why))
      const snapshot = parse(found.value)
      const factsOf = indexLonghornStorage(snapshot, decide)
      if ('node' in about) return names.flatMap((node) => factsOf(node, heldSince(node)) ?? [])
      // What is held is answered for, whatever is left of it.
      return together(
        names.map((node) => {
          const heldSinceMs = heldSince(node)
          return factsOf(node, heldSinceMs) ?? longhornStorageFacts({ snapshot, node, heldSinceMs, decide })
        }),
      )
    },
  }

  /** Not for ever: where the server denies the read, that is reported. */
  async function whenSynced(signal: AbortSignal): Promise<void> {
    if (Object.values(views).every((view) => view.synced)) return
    const given = new AbortController()
    const all = Promise.all(Object.values(views).map((view) => view.whenSynced(signal)))
    await Promise.race([all, sleep(clock, waitMs, AbortSignal.any([signal, given.signal]))])
    given.abort()
    all.catch(() => undefined)
  }

  function whyUnknown(): string | undefined {
    const [bad] = Object.entries(views).find(([, view]) => !view.synced || view.ageMs() > trustedMs) ?? []
    return bad === undefined ? undefined : `Longhorn's ${bad} cannot be seen at the moment`
  }

  function heldSince(node: string): number | undefined {
    const ledger = parseLedger(ledgers.get({ name: ledgerName }))
    const entries = ledger.known ? ledger.value.entries : []
    return parseRfc3339(entries.find(({ key, scope }) => key === longhornStorageKey && scope === node)?.since ?? '')
  }
}

/** A key is clean when all that it is held for is. */
function together(facts: readonly StorageFacts[]): readonly StorageFacts[] {
  const [first, ...more] = facts
  if (first === undefined) return []
  return [more.find(({ isClean }) => !isClean.known || !isClean.value) ?? first]
}
