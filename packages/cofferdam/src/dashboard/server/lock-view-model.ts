import { isOver } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { appLocksByKey, explainHolds, type HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import { defaultAppLockPolicy } from '../../ledger/rules/app-lock.ts'
import { emptyLedger } from '../../ledger/rules/ledger.ts'
import { known } from '../../shared/observed.ts'
import type { ClusterView, DrainView } from './cluster-view.ts'

/** Everything that is held or was meant to be, as the command line prints it. */
export function viewLocks(
  { budgets, drains, ledgers }: Pick<ClusterView, 'budgets' | 'drains' | 'ledgers'>,
  nowMs: number,
): HoldAnswer[] {
  const annotated = budgets.flatMap(({ id, namespace, annotations, lockWrittenMs }) => {
    if (annotations === undefined) return []
    const name = id.slice(namespace.length + 1)
    return [{ namespace, name, annotations, ...(lockWrittenMs === undefined ? {} : { lockWrittenMs }) }]
  })
  const ledger = ledgers[0]?.ledger ?? known(emptyLedger)
  const view = {
    nowMs,
    ledger,
    appLocks: appLocksByKey(annotated, { ledger, policy: ledgers[0]?.appLocks ?? defaultAppLockPolicy, nowMs }),
    disruptions: drains,
    leftByRequest: [],
    hasGuard: undefined,
  }
  return explainHolds(view, () => true).filter(({ state }) => state !== 'Waiting')
}

/** Requests that are not over, those that wait for others first. */
export function openDrains(drains: readonly DrainView[]): DrainView[] {
  return drains
    .filter((drain) => !isOver(drain))
    .sort((a, b) => Number(b.isBlocked) - Number(a.isBlocked) || (a.id < b.id ? -1 : 1))
}
