import type { HoldFailure } from '../../../ledger/store/ledger-hold.ts'
import type { Performers } from '../../interpreter.ts'
import { buildMachineBudget } from '../domain/budget-object.ts'
import {
  type BudgetOfCluster,
  buildBudgetStatus,
  buildBudgetUpdate,
  buildNotedBudget,
} from '../domain/budget-update.ts'
import type { FencingDecision } from '../domain/decision.ts'
import type { FencingSnapshot } from '../domain/snapshot.ts'
import type { AnnounceBudget, BudgetKey, FencingStep, FencingWrite, KeepHolds, NoteBudget } from '../domain/steps.ts'
import type { FreshlyRead } from '../observe/observe.ts'
import type { FencingReporter } from '../report/report.ts'
import type { FenceHolds } from './fence-holds.ts'
import type { FencingWrites } from './writes.ts'
import type { WrittenBudgets } from './written-budgets.ts'

export interface FencingApplyPorts {
  readonly writes: FencingWrites
  readonly written: WrittenBudgets
  readonly holds: FenceHolds
  readonly reporter: Pick<FencingReporter, 'report' | 'reportBlind'>
  /** Reads at the API server what a watch may show too late. */
  readonly readFresh: (signal: AbortSignal) => Promise<FreshlyRead>
}

/** What was learned in one pass. */
export interface FencingMemory {
  /** As it was seen for the last decision. */
  snapshot?: FencingSnapshot
  foreign?: readonly BudgetKey[]
  readonly unlabelled: Set<string>
  unheld: FencingDecision['problems']
  announced?: readonly BudgetKey[]
  /** As it was before something was announced, and then as it was after that. */
  fresh?: FreshlyRead
}

/** Performs the steps of a pass. A write that is refused is noted, and stops no other. */
export function fencingPerformers(
  { writes, written, holds, reporter, readFresh }: FencingApplyPorts,
  memory: FencingMemory,
  signal: AbortSignal,
): Performers<FencingStep> {
  return {
    async ask(step) {
      if (step.what === 'again') memory.announced = step.announced
      memory.fresh = await readFresh(signal)
      return 'learned'
    },

    async hold(step) {
      noteRefused(await keepHolds(step))
      return 'done'
    },

    async write(step) {
      await write(step)
      return 'done'
    },

    async report(step) {
      await writes.settle()
      if (step.what === 'blind') await reporter.reportBlind(step.unread)
      else if (memory.snapshot !== undefined) {
        const { decision, problems } = step
        await reporter.report({ decision, snapshot: memory.snapshot, problems, refused: writes.refused })
      }
      return 'done'
    },
  }

  async function keepHolds({ what, fences }: KeepHolds): Promise<HoldFailure | undefined> {
    if (what === 'release') return (await holds.release(fences, signal)).failure
    holds.noteEnded(fences)
    const { problems, failure } = await holds.hold(fences, signal)
    memory.unheld = problems
    return failure
  }

  function noteRefused(failure: HoldFailure | undefined): void {
    if (failure !== undefined) writes.refused.push({ object: 'disruptionledger', error: failure.error })
  }

  async function write(step: FencingWrite): Promise<void> {
    switch (step.what) {
      case 'add-labels':
        if (!(await writes.addLabels(step.change))) {
          for (const key of Object.keys(step.change.add)) memory.unlabelled.add(key)
        }
        return
      case 'remove-labels':
        return writes.removeLabels(step.change)
      case 'gate':
        return writes.gate(step.change)
      case 'keep-budget':
        return noteWritten(step.wanted)
      case 'close-budget':
        return closeBudget(step.wanted)
      case 'announce-budget':
        return announceBudget(step)
      case 'open-budget':
        return writeStatus(step.wanted)
      case 'note-outage':
        return writes.noteOutage(step.note)
      case 'note-budget':
        return noteBudget(step)
      case 'shut-budget':
        return writes.shutBudget(step.budget)
      case 'delete-budget':
        return writes.deleteBudget(step.budget)
    }
  }

  async function closeBudget(wanted: BudgetOfCluster): Promise<void> {
    const seen = writes.budget(wanted.budget)
    if (seen === undefined) {
      const why = await writes.createBudget(buildMachineBudget(wanted.budget, wanted.cluster, wanted.notes))
      written.noteMade(wanted.cluster, why)
      if (why !== undefined) return
    } else {
      written.noteMade(wanted.cluster, undefined)
      const update = buildBudgetUpdate(seen, wanted)
      if (update !== undefined && !(await writes.updateBudget(update))) return
    }
    noteWritten(wanted)
    await writeStatus(wanted)
  }

  async function announceBudget({ wanted, meanwhile }: AnnounceBudget): Promise<void> {
    await writeStatus({ ...wanted, budget: meanwhile })
    const seen = writes.budget(wanted.budget)
    const update = seen === undefined ? undefined : buildBudgetUpdate(seen, wanted)
    if (update !== undefined) await writes.updateBudget(update)
    noteWritten(wanted)
  }

  async function noteBudget({ budget, notes }: NoteBudget): Promise<void> {
    const seen = writes.budget(budget)
    const noted = seen === undefined ? undefined : buildNotedBudget(seen, notes)
    if (noted !== undefined) await writes.updateBudget(noted)
  }

  function noteWritten({ cluster, budget }: BudgetOfCluster): void {
    const present = writes.budget(budget)
    if (present === undefined) return
    written.noteMade(cluster, undefined)
    written.note(present)
  }

  async function writeStatus(wanted: BudgetOfCluster): Promise<void> {
    const seen = writes.budget(wanted.budget)
    const status = seen === undefined ? undefined : buildBudgetStatus(seen, wanted)
    if (seen !== undefined && status !== undefined) await writes.updateBudgetStatus(seen, status)
  }
}
