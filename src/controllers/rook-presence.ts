import type { Deployment } from '../api/apps.ts'
import type { WatchView } from '../kube/watch-view.ts'

/** Rook's own operator, which writes the same budgets where it is told to. */
export interface RookPresence {
  readonly operators: WatchView<Deployment>
  isPresent(): boolean
}

/** An operator that is only restarting is still there; one that is scaled to none is not. */
export function rookPresence(operators: WatchView<Deployment>): RookPresence {
  return {
    operators,
    isPresent: () => [...operators.list()].some(({ spec }) => (spec.replicas ?? 1) > 0),
  }
}
