import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { Performers } from '../../interpreter.ts'
import { type LonghornObjects, parseLonghorn } from '../domain/parse-longhorn.ts'
import type { SeenAfresh } from '../domain/pass-snapshot.ts'
import type { AskLonghorn, LonghornReportStep, LonghornStep, LonghornWrite } from '../domain/steps.ts'
import { type LonghornViews, observeLonghornAfresh } from '../observe/observe.ts'
import type { LonghornReporter, LonghornReports } from '../report/report.ts'
import { applyLonghornClosing } from './closing.ts'
import { collectFailure } from './collect-failure.ts'
import { applyLonghornGuidance, type StuckTeller } from './guide.ts'
import { applyMovingRecords } from './moving.ts'
import type { OwnWriteWatch } from './reverted.ts'
import { applySurplusRemoval } from './surplus.ts'
import { withdrawTickets } from './tickets.ts'

export interface LonghornApplyPorts {
  readonly api: Pick<KubeApi, 'get' | 'list' | 'patch' | 'delete'>
  readonly clock: Clock
  readonly views: LonghornViews
  readonly reports: LonghornReports
  readonly reporter: LonghornReporter
  readonly watch: OwnWriteWatch
  readonly stuck: Pick<StuckTeller, 'forget'>
  applyBudgets(writes: readonly BudgetWrite[], signal: AbortSignal): Promise<string | undefined>
}

/** What came of the steps of one pass. */
export interface LonghornMemory {
  /** As they were for the last decision; undefined where Longhorn is in several namespaces: then nothing is written. */
  objects: LonghornObjects | undefined
  afresh: Observed<SeenAfresh> | undefined
  readonly attempted: Set<string>
  /** Failures of writes; one that is refused stops no other. */
  readonly failures: unknown[]
}

export function newLonghornMemory(): LonghornMemory {
  return {
    objects: undefined,
    afresh: undefined,
    attempted: new Set(),
    failures: [],
  }
}

/** Performs the steps of a pass. What went wrong is reported before it is tried again. */
export function longhornPerformers(
  ports: LonghornApplyPorts,
  memory: LonghornMemory,
  signal: AbortSignal,
): Performers<LonghornStep> {
  const { reporter, watch, stuck } = ports

  async function ask({ from }: AskLonghorn): Promise<void> {
    if (from === 'watches' || memory.objects === undefined) return
    try {
      const seen = { ...memory.objects, nowMs: ports.clock.now() }
      const objects = await observeLonghornAfresh(ports.api, seen, signal)
      memory.afresh = known({ objects, snapshot: parseLonghorn(objects) })
    } catch (error) {
      signal.throwIfAborted()
      memory.failures.push(error)
      memory.afresh = unknown(error instanceof Error ? error.message : String(error))
    }
  }

  /** Waits until the view has each: the next decision must not plan it again. */
  async function writeBudgets(writes: readonly BudgetWrite[]): Promise<void> {
    for (const write of writes) {
      if (write.verb !== 'delete') memory.attempted.add(write.budget.metadata.name)
      await collectFailure(memory.failures, async () => {
        watch.noteBudgets([write])
        const version = await ports.applyBudgets([write], signal)
        if (version !== undefined) await ports.views.budgets.whenSeen(version, signal)
      })
    }
  }

  async function write(step: LonghornWrite, objects: LonghornObjects): Promise<readonly unknown[]> {
    const around = { objects, signal }
    switch (step.what) {
      case 'budgets':
        await writeBudgets(step.writes)
        return []
      case 'tickets':
        return withdrawTickets(ports, step.tickets, around)
      case 'surplus':
        return applySurplusRemoval(ports, step.replicas, around)
      case 'moving':
        return applyMovingRecords(ports, step.changes, around)
      case 'guidance':
        return applyLonghornGuidance(ports, step.changes, around)
      case 'closing':
        return applyLonghornClosing(ports, step.changes, signal)
    }
  }

  async function report(
    step: Exclude<LonghornReportStep, { readonly what: 'several-places' }>,
    objects: LonghornObjects,
  ): Promise<void> {
    switch (step.what) {
      case 'mode': {
        if (step.mode !== 'observe') return
        stuck.forget()
        watch.forget()
        reporter.forget()
        return
      }
      case 'own-writes':
        watch.remember(objects.budgets)
        return watch.report(objects, step.reverted, signal)
      case 'decision': {
        const { nodes, problems, failedEvictions, surplusKept } = step
        return reporter.report({ objects, nodes, problems, failedEvictions, surplusKept })
      }
      case 'refusals': {
        const forbidden = memory.failures.filter((error) => hasReason(error, 'Forbidden'))
        return reporter.reportRefusals(
          objects,
          forbidden.map(({ message }) => message),
        )
      }
    }
  }

  return {
    async ask(step) {
      await ask(step)
      return 'learned'
    },
    async write(step) {
      if (memory.objects !== undefined) memory.failures.push(...(await write(step, memory.objects)))
      return 'done'
    },
    async report(step) {
      if (step.what === 'several-places') await reporter.reportSeveralPlaces(step)
      else if (memory.objects !== undefined) await report(step, memory.objects)
      return 'done'
    },
  }
}
