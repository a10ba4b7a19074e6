import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { changesOf } from './changes-of.ts'

type Answers = Readonly<Record<string, ReadonlyMap<string, object>>>
type Item<Answer extends Answers, Kind extends keyof Answer> =
  Answer[Kind] extends ReadonlyMap<string, infer Value> ? Value & { readonly id: string } : never

export type AskedView<T> = Pick<WatchView<T>, 'synced' | 'list' | 'subscribe'>

export interface AskedViews<Answer extends Answers> {
  view<Kind extends keyof Answer & string>(kind: Kind): AskedView<Item<Answer, Kind>>
  stop(): Promise<void>
}

export interface AskedViewsOptions<Answer> {
  readonly clock: Clock
  readonly sources: readonly Pick<WatchView<unknown>, 'subscribe'>[]
  /** Whether anybody has the page open: otherwise nothing is asked. */
  readonly isWanted: () => boolean
  readonly ask: (signal: AbortSignal) => Promise<Answer>
}

/** Changes within this time are judged together. */
const settleMs = 500
/** Each question lists all pods and budgets: a busy cluster is not asked again at once. */
const restMs = 2_000
/** A question that took long is asked seldom: at most this part of the time is spent on answers. */
const restFactor = 10
/** Locks end by the clock, and records of Ceph change by themselves. */
const refreshMs = 5_000

interface Kept {
  items: ReadonlyMap<string, { readonly id: string }>
  readonly listeners: Set<(change: ViewChange<{ readonly id: string }>) => void>
}

/** What one question answers about many things, asked again when something changed. An answer that cannot be had leaves the last one. */
export function createAskedViews<Answer extends object>({
  clock,
  sources,
  isWanted,
  ask,
}: AskedViewsOptions<Answer>): AskedViews<Answer & Answers> {
  const stopping = new AbortController()
  const kept = new Map<string, Kept>()
  let isAsking = false
  /** Something changed since the question was asked. */
  let isOutdated = false
  let restsUntil = 0
  let next: { readonly at: number; readonly cancel: () => void } | undefined

  function keptOf(kind: string): Kept {
    const found = kept.get(kind) ?? { items: new Map(), listeners: new Set() }
    kept.set(kind, found)
    return found
  }

  function later(delayMs: number): void {
    if (isAsking) {
      isOutdated = true
      return
    }
    const at = Math.max(clock.now() + delayMs, restsUntil)
    if (stopping.signal.aborted || (next !== undefined && next.at <= at)) return
    next?.cancel()
    next = { at, cancel: clock.after(at - clock.now(), () => void refresh()) }
  }

  async function refresh(): Promise<void> {
    next = undefined
    if (!isWanted()) return later(refreshMs)
    isAsking = true
    isOutdated = false
    const began = clock.now()
    try {
      for (const [kind, answers] of Object.entries((await ask(stopping.signal)) as Answers)) {
        const place = keptOf(kind)
        const before = place.items
        place.items = new Map([...answers].map(([id, answer]) => [id, { id, ...answer }]))
        for (const change of changesOf(before, place.items)) for (const listener of place.listeners) listener(change)
      }
    } catch {
      // Asked again below.
    } finally {
      isAsking = false
      restsUntil = clock.now() + Math.max(restMs, restFactor * (clock.now() - began))
      later(isOutdated ? settleMs : refreshMs)
    }
  }

  const unsubscribes = sources.map((source) => source.subscribe(() => later(settleMs)))
  return {
    view(kind) {
      const place = keptOf(kind)
      const view: AskedView<{ readonly id: string }> = {
        // The page shows what is counted until the first answer is there.
        synced: true,
        list() {
          later(0)
          return place.items.values()
        },
        subscribe(listener) {
          place.listeners.add(listener)
          return () => place.listeners.delete(listener)
        },
      }
      return view as AskedView<never>
    },
    async stop() {
      stopping.abort()
      next?.cancel()
      for (const unsubscribe of unsubscribes) unsubscribe()
    },
  }
}
