import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { decideWithoutRecord } from '../domain/decide-without-record.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import { onlyTightening, planBudgetWrites } from '../domain/plan-budget-writes.ts'
import type { Seen } from '../observe/observe.ts'
import { type ApplyPorts, applyDecision, applyWithoutRecord } from './apply.ts'
import { deleteObserved, observedName, readRecord, writeRecord } from './record.ts'

export interface WritePorts extends ApplyPorts {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'update' | 'delete'>
}

/** What was written, and what of the decision is in force. */
export interface WrittenDecision {
  readonly decision: CephDrainDecision
  readonly failures: readonly ObjectProblem[]
  /** Set while the record is refused. */
  readonly refusal?: { readonly error: unknown; readonly forMs: number; readonly retryAfterSeconds: number }
}

const retryAfterSeconds = 15

/** Writes decisions, the record first; and while that is refused, what protects data without it. */
export class DecisionWriter {
  readonly #ports: WritePorts
  /** Clusters of which nothing is left from a time when the answers stood elsewhere. */
  readonly #cleared = new Set<string>()
  /** By cluster: when the record was refused first, of those times since it was last taken. */
  readonly #refusedSince = new Map<string, number>()

  constructor(ports: WritePorts) {
    this.#ports = ports
  }

  forget(key: string): void {
    this.#cleared.delete(key)
    this.#refusedSince.delete(key)
  }

  /** Unless `mayRelease`, only what holds more than there is now is written. */
  async write(
    key: string,
    seen: Seen,
    { decision, mayRelease }: { readonly decision: CephDrainDecision; readonly mayRelease: boolean },
    signal: AbortSignal,
  ): Promise<WrittenDecision> {
    const { snapshot, budgets } = seen
    const planned = planBudgetWrites(snapshot, budgets, decision)
    const budgetWrites = mayRelease ? planned : onlyTightening(planned, snapshot.budgets)
    const applied = await applyDecision(this.#ports, { ...seen, decision, budgetWrites, signal })
    if (applied.recordRefused !== undefined)
      return this.#withoutRecord(key, seen, decision, applied.recordRefused, signal)
    this.#refusedSince.delete(key)
    const left = await this.#clear(key, seen, signal)
    return { decision, failures: [...applied.nooutFailures, ...left] }
  }

  /** Rook's state map is Rook's while it has the budgets: what we see is told in a map of our own. */
  async note(key: string, { record, silentSince }: Seen, decision: CephDrainDecision, signal: AbortSignal) {
    this.#cleared.delete(key)
    const { api, clock } = this.#ports
    const observed = await readRecord(api, { namespace: record.namespace, name: observedName }, signal)
    const change = { state: undefined, decision, silentSince, now: timestamp(clock) }
    await writeRecord(api, observed, change, signal)
  }

  async #withoutRecord(
    key: string,
    seen: Seen,
    decision: CephDrainDecision,
    error: unknown,
    signal: AbortSignal,
  ): Promise<WrittenDecision> {
    const { snapshot, budgets } = seen
    const { mode, settings } = snapshot.cluster
    const now = this.#ports.clock.now()
    const forMs = now - (this.#refusedSince.get(key) ?? now)
    this.#refusedSince.set(key, now - forMs)
    const isLasting = !isPassing(error) || forMs >= settings.silenceGraceMs
    // Whoever hands the budgets back wants them gone, and the record remembers more than is needed for that.
    const isHandedBack = mode === 'hand-back'
    const held = isHandedBack ? decision : decideWithoutRecord(snapshot, decision, { why: textOf(error), isLasting })
    const budgetWrites = planBudgetWrites(snapshot, budgets, held)
    const applied = await applyWithoutRecord(this.#ports, { ...seen, decision: held, budgetWrites, signal })
    if (!isLasting || isHandedBack) throw error
    const failures = [...applied.nooutFailures, ...(await this.#noteRefusal(key, seen, held, signal))]
    return { decision: held, failures, refusal: { error, forMs, retryAfterSeconds } }
  }

  /** The record itself cannot say that it is refused. */
  async #noteRefusal(key: string, seen: Seen, decision: CephDrainDecision, signal: AbortSignal) {
    return this.#attempt(`configmap/${observedName}`, () => this.note(key, seen, decision, signal), signal)
  }

  async #clear(key: string, { record }: Seen, signal: AbortSignal): Promise<ObjectProblem[]> {
    if (this.#cleared.has(key)) return []
    const failures = await this.#attempt(
      `configmap/${observedName}`,
      () => deleteObserved(this.#ports.api, record.namespace, signal),
      signal,
    )
    if (failures.length === 0) this.#cleared.add(key)
    return failures
  }

  /** Words for people keep nothing else from being done. */
  async #attempt(object: string, write: () => Promise<void>, signal: AbortSignal): Promise<ObjectProblem[]> {
    try {
      await write()
      return []
    } catch (error) {
      signal.throwIfAborted()
      return [{ object, problem: `could not be written: ${textOf(error)}` }]
    }
  }
}

const passing = [
  'AlreadyExists',
  'Conflict',
  'InternalError',
  'ServerTimeout',
  'ServiceUnavailable',
  'Timeout',
  'TooManyRequests',
] as const

/** Whether the next attempt may well be taken: somebody wrote at the same time, or nobody answered. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || hasReason(error, ...passing)
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
