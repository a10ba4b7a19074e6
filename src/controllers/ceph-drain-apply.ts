import type { PodDisruptionBudget } from '../api/policy.ts'
import type { CephCommands } from '../ceph/ceph-commands.ts'
import type { BudgetWrite } from '../domain/budget-write.ts'
import type { CephDrainDecision, ObjectProblem } from '../domain/ceph-drain/decision.ts'
import type { DrainState } from '../domain/ceph-drain/state-map.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import type { WatchView } from '../kube/watch-view.ts'
import { type Clock, timestamp } from '../runtime/clock.ts'
import { type DrainRecord, writeRecord } from './ceph-drain-record.ts'
import type { CephPorts } from './ceph-ports.ts'

export interface DecisionToApply {
  readonly decision: CephDrainDecision
  readonly record: DrainRecord
  readonly budgetWrites: readonly BudgetWrite[]
  readonly ceph: CephCommands | undefined
  readonly silentSince: number | undefined
  readonly signal: AbortSignal
}

export interface ApplyPorts {
  readonly api: Pick<KubeApi, 'create' | 'update'>
  readonly clock: Clock
  readonly budgets: Pick<WatchView<PodDisruptionBudget>, 'whenSeen'>
  readonly ceph: Pick<CephPorts, 'applyNoout'>
  applyBudgets(writes: readonly BudgetWrite[], signal: AbortSignal): Promise<string | undefined>
}

export interface AppliedDecision {
  /** Buckets whose flag could not be changed, and why. */
  readonly nooutFailures: readonly ObjectProblem[]
}

/**
 * Writes what was decided: what is intended first, then the budgets, then the flags.
 *
 * Guarantees: a flag is on record as ours before it is set, and until it is gone, so whatever interrupts this, a flag of
 * ours is found again and one of an administrator's is never taken for ours.
 */
export async function applyDecision(ports: ApplyPorts, input: DecisionToApply): Promise<AppliedDecision> {
  const { decision, budgetWrites, silentSince, signal } = input
  const { noout } = decision
  const owned = new Set([...decision.state.ownNoout, ...noout.set])
  const leaving = noout.unset.filter((bucket) => input.record.state.ownNoout.includes(bucket))
  const intent: DrainState = { ...decision.state, ownNoout: [...new Set([...owned, ...leaving])].sort() }
  const write = (record: DrainRecord, state: DrainState) =>
    writeRecord(ports.api, record, { state, decision, silentSince, now: timestamp(ports.clock) }, signal)

  const record = await write(input.record, intent)
  const version = await ports.applyBudgets(budgetWrites, signal)
  if (version !== undefined) await ports.budgets.whenSeen(version, signal)
  if (noout.set.length + noout.unset.length === 0) return { nooutFailures: [] }
  if (input.ceph === undefined) return { nooutFailures: [] }

  const outcome = await ports.ceph.applyNoout(input.ceph, noout, signal)
  const ended = new Set([...outcome.unset, ...outcome.gone])
  const left = intent.ownNoout.filter((bucket) => !ended.has(bucket))
  await write(record, { ...intent, ownNoout: left })
  return {
    nooutFailures: outcome.failed.map(({ bucket, wanted, why }) => ({
      object: `bucket/${bucket}`,
      problem: `noout could not be ${wanted}: ${why}`,
    })),
  }
}
