import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { Performers } from '../../interpreter.ts'
import type { EvictionAnswer } from '../domain/decision.ts'
import { type LonghornObjects, parseLonghorn } from '../domain/parse-longhorn.ts'
import type { SeenAfresh } from '../domain/pass-snapshot.ts'
import type { AskLonghorn, LonghornReportStep, LonghornStep, LonghornWrite } from '../domain/steps.ts'
import { type LonghornViews, observeLonghornAfresh } from '../observe/observe.ts'
import type { LonghornReporter, LonghornReports } from '../report/report.ts'
import { applyLonghornClosing } from './closing.ts'
import { collectFailure } from './collect-failure.ts'
import { applyEvictionFlags } from './flags.ts'
import { applyLonghornGuidance, type StuckTeller } from './guide.ts'
import { applyLonghornMigration } from './migrate.ts'
import { applyMovingRecords } from './moving.ts'
import type { OwnWriteWatch } from './reverted.ts'
import { applySurplusRemoval } from './surplus.ts'
import { applyEvictionTickets } from './tickets.ts'

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
  /** As they were for the last decision. */
  objects: LonghornObjects | undefined
  afresh: Observed<SeenAfresh> | undefined
  readonly attempted: Set<string>
  /** Failures of writes; one that is refused stops no other. */
  readonly failures: unknown[]
  /** Flags that were written. */
  changed: readonly EvictionAnswer[]
  /** What was refused, by volume. */
  readonly refused: Map<string, unknown>
}

export function newLonghornMemory(): LonghornMemory {
  return {
    objects: undefined,
    afresh: undefined,
    attempted: new Set(),
    failures: [],
    changed: [],
    refused: new Map(),
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
      if (write.verb === 'create') memory.attempted.add(write.budget.metadata.name)
      await collectFailure(memory.failures, async () => {
        watch.noteBudgets([write])
        const version = await ports.applyBudgets([write], signal)
        if (version !== undefined) await ports.views.budgets.whenSeen(version, signal)
      })
    }
  }

  async function write(step: LonghornWrite): Promise<readonly unknown[]> {
    switch (step.what) {
      case 'budgets':
        await writeBudgets(step.writes)
        return []
      case 'flags': {
        const { changed, failures, refused } = await applyEvictionFlags(ports, step, signal)
        if (memory.objects !== undefined) watch.noteFlags(memory.objects, changed)
        memory.changed = changed
        return [...noteRefused(refused), ...failures]
      }
      case 'tickets':
        return noteRefused(await applyEvictionTickets(ports, step.tickets, signal))
      case 'surplus':
        return applySurplusRemoval(ports, step.replicas, signal)
      case 'moving':
        return applyMovingRecords(ports, step.changes, signal)
      case 'migration':
        return applyLonghornMigration(ports, step, signal)
      case 'guidance':
        return applyLonghornGuidance(ports, step.changes, { objects: memory.objects, signal })
      case 'closing':
        return applyLonghornClosing(ports, step.changes, signal)
    }
  }

  function noteRefused(refused: ReadonlyMap<string, unknown>): readonly unknown[] {
    for (const [volume, error] of refused) memory.refused.set(volume, error)
    return [...refused.values()]
  }

  async function report(step: LonghornReportStep, objects: LonghornObjects): Promise<void> {
    switch (step.what) {
      case 'mode': {
        const { mode, refused } = step.settings
        if (mode !== 'guide') stuck.forget()
        if (mode !== 'owner') watch.forget()
        if (mode === 'observe') reporter.forget()
        if (refused === undefined) reporter.forgetOwnerRefused()
        else await reporter.reportOwnerRefused(objects, refused)
        return
      }
      case 'own-writes':
        watch.remember(objects)
        return watch.report(objects, step.reverted, signal)
      case 'evictions':
        return reporter.reportEvictions(objects, memory.changed)
      case 'decision': {
        const { nodes, problems, failedEvictions, surplusKept } = step
        const failed = new Map([...failedEvictions, ...refusals(memory.refused)])
        return reporter.report({ objects, nodes, problems, failedEvictions: failed, surplusKept })
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
      memory.failures.push(...(await write(step)))
      return 'done'
    },
    async report(step) {
      if (memory.objects !== undefined) await report(step, memory.objects)
      return 'done'
    },
  }
}

/** A conflict is no refusal: it is judged again at once. */
function refusals(refused: ReadonlyMap<string, unknown>): (readonly [string, string])[] {
  return [...refused].flatMap(([volume, error]) => {
    const { message, reason } = error as { readonly message?: string; readonly reason?: string }
    return reason === 'Conflict' ? [] : [[volume, `What was decided for it could not be written: ${message}`] as const]
  })
}
