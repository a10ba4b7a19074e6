import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import type { DrainState } from '../domain/state-map.ts'
import { type DrainRecord, writeRecord } from './record.ts'

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
  /** Why the record could not be written: then nothing else was. */
  readonly recordRefused?: unknown
}

/**
 * Writes what was decided: what is intended first, then the budgets, then the flags.
 *
 * Guarantees: a flag is on record as ours before it is set, and until it is gone, so whatever interrupts this, a flag of
 * ours is found again and one of an administrator's is never taken for ours. A record that is refused is told, and nothing else
 * is written: what may go on without it is for `applyWithoutRecord`.
 */
export async function applyDecision(ports: ApplyPorts, input: DecisionToApply): Promise<AppliedDecision> {
  const { decision, budgetWrites, silentSince, signal } = input
  const { noout } = decision
  const owned = new Set([...decision.state.ownNoout, ...noout.set])
  const leaving = noout.unset.filter((bucket) => input.record.state.ownNoout.includes(bucket))
  const intent: DrainState = { ...decision.state, ownNoout: [...new Set([...owned, ...leaving])].sort() }
  const write = (record: DrainRecord, state: DrainState) =>
    writeRecord(ports.api, record, { state, decision, silentSince, now: timestamp(ports.clock) }, signal)

  let record: DrainRecord
  try {
    record = await write(input.record, intent)
  } catch (error) {
    signal.throwIfAborted()
    return { nooutFailures: [], recordRefused: error }
  }
  const version = await ports.applyBudgets(budgetWrites, signal)
  if (version !== undefined) await ports.budgets.whenSeen(version, signal)
  if (noout.set.length + noout.unset.length === 0) return { nooutFailures: [] }
  if (input.ceph === undefined) return { nooutFailures: [] }

  const outcome = await ports.ceph.applyNoout(input.ceph, noout, signal)
  const ended = new Set([...outcome.unset, ...outcome.gone])
  const left = intent.ownNoout.filter((bucket) => !ended.has(bucket))
  await write(record, { ...intent, ownNoout: left })
  return { nooutFailures: outcome.failed.map(nooutFailure) }
}

/**
 * Writes what holds OSDs, and takes back flags that are on record as ours, while the record is refused.
 *
 * Assumes: the decision releases nothing and sets no flag, as `decideWithoutRecord` makes it.
 */
export async function applyWithoutRecord(
  ports: ApplyPorts,
  { decision, budgetWrites, ceph, signal }: Omit<DecisionToApply, 'record' | 'silentSince'>,
): Promise<AppliedDecision> {
  const version = await ports.applyBudgets(budgetWrites, signal)
  if (version !== undefined) await ports.budgets.whenSeen(version, signal)
  const { noout } = decision
  if (ceph === undefined || noout.unset.length === 0) return { nooutFailures: [] }
  const { failed } = await ports.ceph.applyNoout(ceph, noout, signal)
  return { nooutFailures: failed.map(nooutFailure) }
}

function nooutFailure({
  bucket,
  wanted,
  why,
}: {
  readonly bucket: string
  readonly wanted: string
  readonly why: string
}): ObjectProblem {
  return { object: `bucket/${bucket}`, problem: `noout could not be ${wanted}: ${why}` }
}
