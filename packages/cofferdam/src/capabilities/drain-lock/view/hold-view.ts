import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type AppLockPolicy, judgeAppLocks, type ParsedAppLock } from '../../../ledger/rules/app-lock.ts'
import type { AppLockRecord } from '../../../ledger/rules/app-lock-record.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { isUpdateRequest } from '../../../ledger/rules/update-request.ts'
import { type AnnotatedBudget, lockWritten } from '../../../shared/app-lock-annotation.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { EstimatedEnd } from './estimate-ends.ts'
import type { DisruptionAnswer } from './explain-disruption.ts'

/** Who holds what, as far as locks go. */
export interface HoldView {
  readonly nowMs: number
  readonly ledger: Observed<Ledger>
  /** By key of the budget; also those that lock nothing, with the reason. */
  readonly appLocks: ReadonlyMap<string, ParsedAppLock>
  /** Requests that are not over. */
  readonly disruptions: readonly DisruptionAnswer[]
  /** Uids of the pods that requests leave on nodes that may go now. */
  readonly leftByRequest: readonly string[]
  /** Whether evictions are asked of the guard; undefined where that is not known. */
  readonly hasGuard: boolean | undefined
  /** When what is held is likely to be free, by its key; left out where it was not asked. */
  readonly ends?: ReadonlyMap<string, EstimatedEnd>
}

/** One thing that somebody holds or waits for. */
export interface HoldAnswer {
  /** `pdb/shop/orders`, `node/worker-a1`, `storage/rook-ceph/rook-ceph` */
  readonly key: string
  /** For a ledger key of storage: the failure domain it is held for. */
  readonly scope?: string
  /** `AppLock`: by an owner. `Ignored`: an owner's lock that locks nothing. Else as the ledger has it. */
  readonly state: 'Granted' | 'Acting' | 'Orphaned' | 'Waiting' | 'AppLock' | 'Ignored'
  readonly holder: string
  readonly since?: string
  readonly until?: string
  readonly says: string
  readonly ends: string
  /** When it is likely to be free; left out where nothing is on record that says so. */
  readonly estimate?: EstimatedEnd
  readonly override: string
}

/** The locks of owners on these budgets, by key. All budgets of a namespace must be there: limits are those of the whole. */
export function viewAppLocks(
  budgets: readonly PodDisruptionBudget[],
  by: JudgedBy,
): ReadonlyMap<string, ParsedAppLock> {
  const annotated = budgets.map((budget) => {
    const { namespace = '', name, annotations = {} } = budget.metadata
    return { namespace, name, annotations, ...lockWritten(budget) }
  })
  return appLocksByKey(annotated, by)
}

/** What owners' locks are judged by beside the budgets. */
interface JudgedBy {
  readonly ledger: Observed<Ledger>
  readonly policy: AppLockPolicy
  readonly nowMs: number
}

export function appLocksByKey(
  budgets: readonly (AnnotatedBudget & { readonly namespace: string })[],
  { ledger, policy, nowMs }: JudgedBy,
): ReadonlyMap<string, ParsedAppLock> {
  const records: readonly AppLockRecord[] = ledger.known ? ledger.value.appLocks : []
  const locks = new Map<string, ParsedAppLock>()
  for (const namespace of new Set(budgets.map((budget) => budget.namespace))) {
    const own = budgets.filter((budget) => budget.namespace === namespace)
    for (const [name, parsed] of judgeAppLocks({ namespace, budgets: own, records, policy, nowMs }))
      locks.set(budgetKey({ namespace, name }), parsed)
  }
  return locks
}

/** Everything that is held of these keys or waited for, by the ledger and by owners. */
export function explainHolds(view: HoldView, isAsked: (key: string) => boolean): HoldAnswer[] {
  const { ledger, appLocks } = view
  const held = ledger.known ? ledger.value.entries.filter(({ key }) => isAsked(key)) : []
  const tickets = ledger.known ? ledger.value.tickets : []
  return [
    ...held.map(
      ({ key, scope, state, holder, since, requestId }): HoldAnswer => ({
        key,
        ...(scope === '' ? {} : { scope }),
        state,
        holder,
        since,
        ...(isUpdateRequest(requestId) ? updateWords[state] : words[state]),
        ...estimateOf(key),
        override: breakGlassText,
      }),
    ),
    ...[...appLocks]
      .filter(([key]) => isAsked(key))
      .map(([key, parsed]) => ({ ...appLockAnswer(key, parsed), ...estimateOf(key) })),
    ...tickets.flatMap(({ holder, requestId, since, number, claims }) =>
      claims
        .filter(({ key }) => isAsked(key))
        .map(
          ({ key, scope }): HoldAnswer => ({
            key,
            ...(scope === '' ? {} : { scope }),
            state: 'Waiting',
            holder: holder === '' ? `request ${requestId}` : holder,
            ...(since === '' ? {} : { since }),
            says: `is queued for it with ticket ${number}, and holds nothing meanwhile`,
            ends: 'nothing that it needs is held, and no older ticket needs the same',
            override: 'cofferdam uncordon NODE cancels its request',
          }),
        ),
    ),
  ]

  function estimateOf(key: string): Pick<HoldAnswer, 'estimate'> {
    const estimate = view.ends?.get(key)
    return estimate === undefined ? {} : { estimate }
  }
}

const breakGlassText = 'cofferdam drain NODE --break-glass --reason TEXT --for 30m takes it; the holder is notified'

const words = {
  Granted: {
    says: 'holds it, and has not touched anything yet',
    ends: 'it continues or gives up soon',
  },
  Acting: {
    says: 'holds it: its node may go down at any time, or is down',
    ends: 'its node back with all its pods ready, or the request cancelled with cofferdam uncordon',
  },
  Orphaned: {
    says: 'held it and is gone: the hold counts until what it started has ended',
    ends: 'the node Ready again or deleted, its pods ready, storage clean',
  },
} as const

const updateWords = {
  ...words,
  Acting: {
    says: 'holds it while OSDs restart',
    ends: 'those OSDs back and all data clean; queued requests then come before the next OSDs',
  },
  Orphaned: {
    says: 'held it and is gone: the hold counts until its OSDs are back',
    ends: 'the next operator, which continues the update',
  },
} as const

function appLockAnswer(key: string, { lock, problem }: ParsedAppLock): HoldAnswer {
  const noted = problem === undefined ? '' : ` (${problem})`
  if (lock === undefined) {
    return {
      key,
      state: 'Ignored',
      holder: 'nobody',
      says: problem ?? 'it locks nothing',
      ends: 'nothing waits for it',
      override: `cofferdam unlock ${key} removes what is left of it`,
    }
  }
  return {
    key,
    state: 'AppLock',
    holder: lock.holder,
    since: rfc3339(lock.sinceMs),
    until: rfc3339(lock.untilMs),
    says: `has locked it: ${lock.reason}${noted}`,
    ends: `${rfc3339(lock.untilMs)}, or cofferdam unlock ${key}`,
    override: `cofferdam unlock ${key} --force; or cofferdam drain NODE --break-glass --reason TEXT --for 30m`,
  }
}
