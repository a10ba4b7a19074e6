import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { decideEviction, type EvictionPod, type EvictionVerdict } from '../../../ledger/rules/decide-eviction.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import { isExchangedBudget } from '../../../shared/exchanged-budget.ts'
import { known, unknown } from '../../../shared/observed.ts'
import type { Refusal } from '../../../shared/refusal.ts'
import { disruptedUntilMs } from '../domain/budget-hold.ts'
import { explainHolds, type HoldView } from './hold-view.ts'

/** What the eviction guard answers to any drain that evicts the pod: the same decision, on the same ledger and locks. */
export function guardVerdict(
  pod: EvictionPod,
  budgets: readonly PodDisruptionBudget[],
  view: Pick<HoldView, 'nowMs' | 'ledger' | 'appLocks'>,
): EvictionVerdict {
  return decideEviction({
    nowMs: view.nowMs,
    target: pod,
    pod: known(pod),
    budgets: known(
      budgets.map(({ metadata }) => {
        const { namespace = '', name, uid = '' } = metadata
        const { lock } = view.appLocks.get(budgetKey({ namespace, name })) ?? {}
        return { namespace, name, uid, appLock: lock, isExchanged: isExchangedBudget({ metadata }) }
      }),
    ),
    ledger: view.ledger,
    token: undefined,
    asker: '',
    operatorUser: unknown('no token is shown'),
    breakGlass: undefined,
    isStrict: false,
    dryRun: true,
  })
}

/** Why the eviction guard would refuse a pod of this budget to any drain; undefined when it would not. */
export function holdRefusal(budget: PodDisruptionBudget, view: HoldView): Refusal | undefined {
  const { metadata, status } = budget
  const { namespace = '', name } = metadata
  const key = budgetKey({ namespace, name })
  const pod = { namespace, name: 'of any name', uid: '', nodeName: '', isLeaving: false, isCounted: true }
  const verdict = guardVerdict(pod, [budget], view)
  if (verdict.allowed) return undefined
  const { reason, holder } = verdict
  const isAppLock = reason === 'AppLocked'
  const answer = explainHolds(view, (each) => each === key).find(({ state }) =>
    isAppLock ? state === 'AppLock' : state !== 'AppLock' && state !== 'Ignored' && state !== 'Waiting',
  )
  const unheard =
    isAppLock && view.hasGuard === false
      ? '; no eviction guard is registered, so only drains by Cofferdam wait for it'
      : ''
  const reserved = isAppLock ? [] : Object.entries(disruptedUntilMs(status))
  return {
    reason,
    explanation: `${holder} ${answer?.says ?? 'holds it'}${unheard}`,
    holder,
    ...(answer?.since === undefined ? {} : { since: answer.since }),
    causes: reserved.map(([pod, untilMs]) => ({
      object: `pod/${namespace}/${pod}`,
      says: `counts as gone until ${rfc3339(untilMs)}, and longer while the request exists: it stays on its node`,
    })),
    unblocks: answer?.ends ?? verdict.until ?? 'its holder',
    override: answer?.override ?? '',
  }
}
