import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import type { VerdictView } from './cluster-view.ts'

export interface VerdictWatch extends Pick<WatchView<VerdictView>, 'synced' | 'list' | 'subscribe'> {
  stop(): Promise<void>
}

export interface VerdictWatchOptions {
  readonly clock: Clock
  readonly sources: readonly Pick<WatchView<unknown>, 'subscribe'>[]
  /** Whether anybody looks at the page: for nobody nothing is asked. */
  readonly isWanted: () => boolean
  readonly ask: (signal: AbortSignal) => Promise<ReadonlyMap<string, BudgetVerdict>>
}

/** Changes within this time are judged together. */
const settleMs = 500
/** Each question lists all pods and budgets: a busy cluster is not asked again at once. */
const restMs = 2_000
/** Locks end by the clock, and records of Ceph change by themselves. */
const refreshMs = 5_000

/** What every budget says to the next eviction, asked again when something changed. An answer that cannot be had leaves the last one. */
export function createVerdictWatch({ clock, sources, isWanted, ask }: VerdictWatchOptions): VerdictWatch {
  const listeners = new Set<(change: ViewChange<VerdictView>) => void>()
  const stopping = new AbortController()
  let seen: ReadonlyMap<string, VerdictView> = new Map()
  let isAsking = false
  let restsUntil = 0
  let next: { readonly at: number; readonly cancel: () => void } | undefined

  function later(delayMs: number): void {
    const at = Math.max(clock.now() + delayMs, restsUntil)
    if (stopping.signal.aborted || (next !== undefined && next.at <= at)) return
    next?.cancel()
    next = { at, cancel: clock.after(at - clock.now(), () => void refresh()) }
  }

  async function refresh(): Promise<void> {
    next = undefined
    if (isAsking || !isWanted()) return later(refreshMs)
    isAsking = true
    try {
      const verdicts = await ask(stopping.signal)
      const before = seen
      seen = new Map([...verdicts].map(([id, verdict]) => [id, { id, ...verdict }]))
      for (const change of changesOf(before, seen)) for (const listener of listeners) listener(change)
    } catch {
      // Asked again below.
    } finally {
      isAsking = false
      restsUntil = clock.now() + restMs
      later(refreshMs)
    }
  }

  const unsubscribes = sources.map((source) => source.subscribe(() => later(settleMs)))
  return {
    // The page shows what is counted until the first answer is there.
    synced: true,
    list() {
      later(0)
      return seen.values()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async stop() {
      stopping.abort()
      next?.cancel()
      for (const unsubscribe of unsubscribes) unsubscribe()
    },
  }
}

function changesOf(
  before: ReadonlyMap<string, VerdictView>,
  after: ReadonlyMap<string, VerdictView>,
): ViewChange<VerdictView>[] {
  const gone = [...before].filter(([key]) => !after.has(key))
  return [
    ...gone.map(([key, previous]) => ({ type: 'removed' as const, key, previous })),
    ...[...after].flatMap(([key, value]): ViewChange<VerdictView>[] => {
      const previous = before.get(key)
      if (previous === undefined) return [{ type: 'added', key, value }]
      return isSameJson(previous, value) ? [] : [{ type: 'changed', key, previous, value }]
    }),
  ]
}
