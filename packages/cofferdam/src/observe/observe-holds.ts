import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { podsLeftBy } from '../capabilities/drain-detection/domain/snapshot.ts'
import { estimateEnds } from '../capabilities/drain-lock/view/estimate-ends.ts'
import { explainDisruption, isOver } from '../capabilities/drain-lock/view/explain-disruption.ts'
import { type HoldView, viewAppLocks } from '../capabilities/drain-lock/view/hold-view.ts'
import { observeGuard } from '../eviction-guard/observe-guard.ts'
import { createLedgerStore } from '../ledger/store/ledger-store.ts'
import { noteDefaults, observeSettings } from '../ledger/store/observe-settings.ts'
import { appLockAnnotation } from '../shared/app-lock-annotation.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'

export interface HoldQuestion {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Who holds what. A cluster without Cofferdam has no ledger and no requests; missing rights are reported, not fatal. */
export async function observeHolds(
  { api, clock, signal }: HoldQuestion,
  /** All of every namespace that is asked about. */
  budgets: readonly PodDisruptionBudget[],
  notSeen: string[],
): Promise<HoldView> {
  const [ledger, disruptions, hasGuard, settings] = await Promise.all([
    createLedgerStore({ api, clock }).read(signal),
    ifAllowed('nodedisruptions.cofferdam.io', notSeen, () => api.list(nodeDisruptions, { signal })),
    observeGuard({ api, signal }),
    observeSettings({ api, signal }),
  ])
  if (!ledger.known) notSeen.push(`disruptionledger cluster: ${ledger.why}`)
  const isAnyLocked = budgets.some(({ metadata }) => metadata.annotations?.[appLockAnnotation] !== undefined)
  if (isAnyLocked) noteDefaults(settings, notSeen)
  const nowMs = clock.now()
  const appLocks = viewAppLocks(budgets, { ledger, policy: settings.appLocks, nowMs })
  return {
    nowMs,
    ledger,
    appLocks,
    ends: estimateEnds({ ledger, appLocks, disruptions: disruptions?.items ?? [], nowMs }),
    disruptions: (disruptions?.items ?? []).map(explainDisruption).filter((each) => !isOver(each)),
    leftByRequest: podsLeftBy(disruptions?.items ?? []),
    hasGuard,
  }
}
