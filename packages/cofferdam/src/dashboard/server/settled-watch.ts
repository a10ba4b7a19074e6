import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { changesOf } from './changes-of.ts'

/** What the page follows that is made of several kinds together. */
export interface SettledWatch<T> extends Pick<WatchView<T>, 'synced' | 'list' | 'subscribe'> {
  stop(): Promise<void>
}

type Source = Pick<WatchView<unknown>, 'synced' | 'subscribe'>

/** Changes within this time are handled together: a rebuild or a fence changes several objects at once, again and again. */
const settleMs = 500

/** Reads again when one of its sources changed, and notifies of what differs. */
export function createSettledWatch<T>({
  clock,
  sources,
  observe,
  dueMs = () => undefined,
  stop,
}: {
  readonly clock: Clock
  readonly sources: readonly Source[]
  readonly observe: () => ReadonlyMap<string, T>
  /** When what was just observed changes by itself. */
  readonly dueMs?: () => number | undefined
  /** Ends the sources. */
  readonly stop: () => unknown
}): SettledWatch<T> {
  const listeners = new Set<(change: ViewChange<T>) => void>()
  let seen: ReadonlyMap<string, T> = new Map()
  let cancel: (() => void) | undefined
  let cancelDue: (() => void) | undefined

  const refresh = () => {
    cancel?.()
    cancel = undefined
    const before = seen
    seen = observe()
    cancelDue?.()
    const due = dueMs()
    cancelDue = due === undefined ? undefined : clock.after(Math.max(0, due - clock.now()), refresh)
    for (const change of changesOf(before, seen)) for (const listener of listeners) listener(change)
  }
  const later = () => {
    cancel ??= clock.after(settleMs, refresh)
  }
  const unsubscribes = sources.map((source) => source.subscribe(later))
  return {
    get synced() {
      return sources.every(({ synced }) => synced)
    },
    list() {
      if (cancel !== undefined || seen.size === 0) refresh()
      return seen.values()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async stop() {
      cancel?.()
      cancelDue?.()
      for (const unsubscribe of unsubscribes) unsubscribe()
      await stop()
    },
  }
}
