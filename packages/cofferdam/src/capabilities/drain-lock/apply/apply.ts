import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LedgerStore } from '../../../ledger/store/ledger-store.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { Performers, StepOutcome } from '../../interpreter.ts'
import type { Takeovers } from '../controller/takeovers.ts'
import { ledgerTasks, takeLedgerStep } from '../domain/ledger-step.ts'
import type { ChangeLedger, EvictPods, PassStep, WriteRecord, WriteStep } from '../domain/steps.ts'
import type { DisruptionReporter, DisruptionReports } from '../report/report.ts'
import { lockBudget, unlockBudget } from './budgets.ts'
import { cordonNode, uncordonNode, unmarkNode } from './cordon.ts'
import type { PodEvictor } from './evict.ts'
import { addFinalizer, dropFinalizer } from './finalizer.ts'
import { buildStatus } from './record.ts'
import type { ResponderAsker } from './responders.ts'

export interface ApplyDisruptionPorts {
  readonly api: Pick<KubeApi, 'get' | 'update' | 'patch'>
  readonly clock: Clock
  readonly store: Pick<LedgerStore, 'change'>
  readonly evictor: PodEvictor
  readonly asker: Pick<ResponderAsker, 'ask' | 'withdraw'>
  readonly takeovers: Pick<Takeovers, 'note'>
  readonly reporter: Pick<DisruptionReporter, 'report'>
  readonly reports: Pick<DisruptionReports, 'observeWait'>
}

/** What is known of the request in the course of one pass. */
export interface PassMemory {
  /** As it was when the last snapshot was taken. */
  seen: NodeDisruption | undefined
  /** As it was last written; undefined when it has to be read again. */
  current: NodeDisruption | undefined
  /** The API server was asked. */
  isFresh: boolean
}

/**
 * Performs the steps of a pass.
 *
 * Guarantees: the record is only written over the very record that was decided on. Whatever somebody changed in between is decided on
 * again.
 */
export function disruptionPerformers(
  ports: ApplyDisruptionPorts,
  memory: PassMemory,
  signal: AbortSignal,
): Performers<PassStep> {
  const { store, clock, api, evictor, asker, takeovers, reporter, reports } = ports

  async function changeLedger({ change, requestId, request, holder }: ChangeLedger): Promise<StepOutcome> {
    const { isTaken, epoch } = await store.change(
      `${ledgerTasks[change.step]} for nodedisruption/${request}`,
      (ledger) => {
        const outcome = takeLedgerStep(ledger, change, { requestId, holder, now: timestamp(clock) })
        return { ledger: outcome.ledger, value: outcome }
      },
      signal,
    )
    if (epoch !== undefined) takeovers.note(requestId, epoch)
    return isTaken ? 'done' : 'learned'
  }

  async function writeRecord({ record, words }: WriteRecord): Promise<void> {
    const object = memory.current
    if (object === undefined) return
    const status = buildStatus(object, record, words, clock.now())
    if (isSameJson(status, object.status)) return
    memory.current = await api.update(nodeDisruptions, { ...object, status }, { subresource: 'status', signal })
  }

  async function write(step: WriteStep): Promise<StepOutcome> {
    switch (step.what) {
      case 'add-finalizer':
        if (memory.current !== undefined) memory.current = await addFinalizer(api, memory.current, signal)
        return 'done'
      case 'drop-finalizer':
        if (memory.current !== undefined) await dropFinalizer(api, memory.current, signal)
        memory.current = undefined
        return 'done'
      case 'record':
        await writeRecord(step)
        return 'done'
      case 'lock':
        return (await lockBudget(api, step, signal)) ? 'done' : 'learned'
      case 'unlock':
        await unlockBudget(api, { ...step, nowMs: clock.now() }, signal)
        return 'done'
      case 'cordon':
        return (await cordonNode(api, step, signal)) ? 'done' : 'learned'
      case 'uncordon':
        await uncordonNode(api, step, signal)
        return 'done'
      case 'forget-cordon':
        await unmarkNode(api, step, signal)
        return 'done'
      case 'ask-responders':
        return (await asker.ask(step, signal)) ? 'done' : 'learned'
      case 'withdraw-asks':
        return (await asker.withdraw(step, signal)) ? 'done' : 'learned'
    }
  }

  async function evict(step: EvictPods): Promise<StepOutcome> {
    const { requestId } = step.token
    const before = evictor.refusals(requestId)
    await evictor.evict(step, signal)
    return isSameJson(before, evictor.refusals(requestId)) ? 'done' : 'learned'
  }

  /** Somebody changed what we were about to: what is true now decides. */
  async function unlessOvertaken(work: Promise<StepOutcome>): Promise<StepOutcome> {
    try {
      return await work
    } catch (error) {
      if (!hasReason(error, 'Conflict')) throw error
      memory.current = undefined
      return 'learned'
    }
  }

  return {
    async ask() {
      memory.isFresh = true
      return 'learned'
    },
    hold: (step) => unlessOvertaken(changeLedger(step)),
    write: (step) => unlessOvertaken(write(step)),
    evict: (step) => unlessOvertaken(evict(step)),
    async report({ node, reason, explanation, waitedMs }) {
      if (memory.seen !== undefined) await reporter.report(memory.seen, node, { reason, explanation })
      if (waitedMs !== undefined) reports.observeWait(waitedMs / 1000)
      return 'done'
    },
  }
}
