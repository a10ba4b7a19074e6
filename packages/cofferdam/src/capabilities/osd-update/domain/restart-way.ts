import type { AppLock } from '../../../ledger/rules/app-lock.ts'
import { decideEviction, type EvictionPod } from '../../../ledger/rules/decide-eviction.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'

/** A budget that covers the pod of an OSD. */
export interface RestartBudget extends BudgetReference {
  /** ceph-drain keeps it for this very cluster: it is closed to all others while the update holds the storage. */
  readonly isOurs: boolean
  readonly appLock: AppLock | undefined
  /** How many pods may go by it now; 0 while its status does not answer for its spec. */
  readonly room: number
}

export interface RestartQuestion {
  readonly nowMs: number
  readonly pod: EvictionPod & { readonly isReady: boolean }
  readonly budgets: readonly RestartBudget[]
  readonly ledger: Observed<Ledger>
}

/** How the pod of an OSD is removed where Rook writes its Deployment. */
export type RestartWay =
  /** Only budgets of our own cover it, and they are closed: whoever holds the storage passes them, for that is why they are. */
  | { readonly way: 'past-own-budgets' }
  /** By eviction, within the budget that covers it where there is one. */
  | { readonly way: 'evict'; readonly within?: { readonly budget: string; readonly room: number } }
  | { readonly way: 'wait'; readonly why: string }

/**
 * How an OSD may be restarted, as far as budgets and locks have a say.
 *
 * Guarantees: a pod that an owner has locked, that a request holds, or that a budget of somebody else covers is never passed over;
 * what the eviction guard would refuse waits. A budget of Cofferdam that is still open is not passed but used: a drain that comes in the
 * same instant finds it used up.
 * Fails closed: without the ledger it waits, and so does a pod that is covered twice, which the API server does not evict.
 */
export function decideRestartWay({ nowMs, pod, budgets, ledger }: RestartQuestion): RestartWay {
  if (!ledger.known) return { way: 'wait', why: `who holds its budgets is not known: ${ledger.why}` }
  const verdict = decideEviction({
    nowMs,
    target: pod,
    pod: known(pod),
    budgets: known(budgets),
    ledger,
    token: undefined,
    asker: '',
    operatorUser: unknown('no token is shown'),
    breakGlass: undefined,
    isStrict: false,
    dryRun: false,
  })
  if (!verdict.allowed) return { way: 'wait', why: verdict.message }
  const [first] = budgets
  if (first === undefined) return { way: 'evict' }
  const isOpen = budgets.length === 1 && first.room > 0
  if (budgets.every(({ isOurs }) => isOurs) && !isOpen) return { way: 'past-own-budgets' }
  if (budgets.length > 1) {
    const names = budgets.map(({ name }) => `poddisruptionbudget/${name}`).sort()
    const why = `${names.join(' and ')} cover its pod, and the API server evicts no pod that more than one budget covers: it goes when one is left`
    return { way: 'wait', why }
  }
  // One that is not ready may go though its budget is used up: that is for the API server to say.
  if (!pod.isReady) return { way: 'evict' }
  const { name: budget, room } = first
  if (room < 1) return { way: 'wait', why: `poddisruptionbudget/${budget} allows no disruption now` }
  return { way: 'evict', within: { budget, room } }
}
