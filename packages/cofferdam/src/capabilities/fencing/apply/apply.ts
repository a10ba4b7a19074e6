import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { buildMachineBudget } from '../domain/budget-object.ts'
import { buildBudgetStatus, buildBudgetUpdate } from '../domain/budget-update.ts'
import type { ClusterAnswer, Fence, FencingDecision, GateChange, WantedMachineBudget } from '../domain/decision.ts'
import type { FencingWrites } from './writes.ts'

type Answer = ClusterAnswer & { readonly budget: WantedMachineBudget }

const holding: readonly GateChange['kind'][] = ['hold-lease', 'pause', 'skip-machine', 'hook-machine']

/** Of a decision, what lets somebody through who was kept before. */
export interface Release {
  /** Answers that want a budget opened, or a record of a fence taken off. */
  readonly answers: readonly Answer[]
  readonly isNeeded: boolean
}

/** What was found and mended that nobody of ours did. */
export interface PutRight {
  readonly object: string
  readonly problem: string
}

/**
 * Everything that protects: labels that are missing, gates that hold, budgets that spare nobody.
 *
 * Guarantees: records of fences are on a budget when its status says so; nothing of it lets anybody through. Tells of which
 * label keys a machine could not be given its label.
 */
export async function protect(
  writes: FencingWrites,
  { decision, written }: { readonly decision: FencingDecision; readonly written: WrittenBudgets },
): Promise<{ readonly unlabelled: ReadonlySet<string>; readonly putRight: readonly PutRight[] }> {
  const unlabelled = new Set<string>()
  for (const change of decision.labels) {
    if (Object.keys(change.add).length === 0) continue
    if (!(await writes.addLabels(change))) for (const key of Object.keys(change.add)) unlabelled.add(key)
  }
  for (const change of decision.gates) if (holding.includes(change.kind)) await writes.gate(change)
  const putRight: PutRight[] = []
  for (const answer of answersOf(decision)) {
    const before = writes.budget(answer.budget)
    if (before !== undefined) written.noteMade(answer, undefined)
    if (before !== undefined && written.isForeign(before)) {
      putRight.push({
        object: `machinedisruptionbudget/${answer.budget.namespace}/${answer.budget.name}`,
        problem: 'another client changed it; it was restored',
      })
    }
    await closeBudget(writes, answer, { fences: decision.fences, written })
  }
  return { unlabelled, putRight }
}

/** Fences that are over stay on record here: they are taken off where things are released. */
async function closeBudget(
  writes: FencingWrites,
  answer: Answer,
  { fences, written }: { readonly fences: readonly Fence[]; readonly written: WrittenBudgets },
): Promise<void> {
  const wanted = {
    cluster: answer,
    budget: closed(answer.budget),
    fences: fences.map((fence) => ({ ...fence, isOver: false })),
  }
  const seen = writes.budget(answer.budget)
  if (seen === undefined) {
    const why = await writes.createBudget(buildMachineBudget(wanted.budget, answer))
    written.noteMade(answer, why)
    if (why !== undefined) return
    written.note(writes.budget(answer.budget))
  } else {
    const mayStayOpen = answer.budget.maxUnavailable === 1
    const isOpenAsWanted = mayStayOpen && buildBudgetUpdate(seen, { ...wanted, budget: answer.budget }) === undefined
    const update = isOpenAsWanted ? undefined : buildBudgetUpdate(seen, wanted)
    if (update !== undefined && !(await writes.updateBudget(update))) return
    written.note(writes.budget(answer.budget))
    if (isOpenAsWanted) return
  }
  await writeStatus(writes, wanted)
}

function closed(budget: WantedMachineBudget): WantedMachineBudget {
  if (budget.maxUnavailable === 0) return budget
  const { status } = budget
  return {
    ...budget,
    maxUnavailable: 0,
    status: { ...status, disruptionsAllowed: 0, desiredHealthy: status.expectedMachines },
  }
}

async function writeStatus(writes: FencingWrites, wanted: Parameters<typeof buildBudgetStatus>[1]): Promise<void> {
  const seen = writes.budget(wanted.budget)
  const status = seen === undefined ? undefined : buildBudgetStatus(seen, wanted)
  if (seen !== undefined && status !== undefined) await writes.updateBudgetStatus(seen, status)
}

export function releaseOf(decision: FencingDecision, writes: FencingWrites): Release {
  const answers = answersOf(decision).filter(({ uid, budget }) => {
    const seen = writes.budget(budget)
    if (seen === undefined) return false
    if (decision.fences.some(({ cluster, isOver }) => isOver && cluster.uid === uid)) return true
    const wanted = { cluster: { namespace: '', name: '', uid }, budget, fences: decision.fences }
    return (
      budget.maxUnavailable === 1 && (seen.spec?.maxUnavailable !== 1 || buildBudgetStatus(seen, wanted) !== undefined)
    )
  })
  const isNeeded =
    answers.length > 0 ||
    decision.orphanBudgets.length > 0 ||
    decision.labels.some(({ remove }) => remove.length > 0) ||
    decision.gates.some(({ kind }) => !holding.includes(kind))
  return { answers, isNeeded }
}

/**
 * Takes fences that are over off the budgets, and says in the specs what is about to be allowed; the statuses allow nothing yet.
 * The entry goes before the record: whoever dies in between finds the record, and with it how the fence began.
 */
export async function announce(
  writes: FencingWrites,
  { decision, answers, written }: { decision: FencingDecision; answers: readonly Answer[]; written: WrittenBudgets },
): Promise<void> {
  const { fences } = decision
  for (const answer of answers) {
    await writeStatus(writes, { cluster: answer, budget: closedUnlessOpen(writes, answer), fences })
    const seen = writes.budget(answer.budget)
    const update =
      seen === undefined ? undefined : buildBudgetUpdate(seen, { cluster: answer, budget: answer.budget, fences })
    if (update !== undefined) await writes.updateBudget(update)
    written.note(writes.budget(answer.budget))
  }
}

function closedUnlessOpen(writes: FencingWrites, { budget }: Answer): WantedMachineBudget {
  const isOpen = (writes.budget(budget)?.status?.disruptionsAllowed ?? 0) > 0
  return isOpen ? budget : closed(budget)
}

/**
 * Everything that lets somebody through, as decided after it was announced.
 *
 * Guarantees: a budget is opened only where it was announced and that decision still wants it; else what was announced is
 * taken back.
 */
export async function openUp(
  writes: FencingWrites,
  {
    decision,
    announced,
    unlabelled,
    written,
  }: {
    readonly decision: FencingDecision
    readonly announced: readonly Answer[]
    readonly unlabelled: ReadonlySet<string>
    readonly written: WrittenBudgets
  },
): Promise<void> {
  const { fences } = decision
  for (const { budget: was } of announced) {
    const answer = answersOf(decision).find(({ budget }) => isSameBudget(budget, was))
    if (answer === undefined) continue
    const isAnnounced = writes.budget(answer.budget)?.spec?.maxUnavailable === 1
    const isOpened = isAnnounced && answer.budget.maxUnavailable === 1 && !unlabelled.has(answer.budget.labelKey)
    if (isOpened) await writeStatus(writes, { cluster: answer, budget: answer.budget, fences })
    else await closeBudget(writes, { ...answer, budget: closed(answer.budget) }, { fences, written })
  }
  for (const change of decision.labels) {
    if (change.remove.length > 0) await writes.removeLabels(change)
  }
  for (const change of decision.gates) if (!holding.includes(change.kind)) await writes.gate(change)
  for (const orphan of decision.orphanBudgets) await writes.deleteBudget(orphan)
}

function answersOf({ clusters }: FencingDecision): Answer[] {
  return clusters.filter((answer): answer is Answer => answer.budget !== undefined)
}

function isSameBudget(a: WantedMachineBudget, b: WantedMachineBudget): boolean {
  return a.namespace === b.namespace && a.name === b.name
}

/** The specs of budgets as we wrote them last, so that whatever else stands there is somebody else's. */
export class WrittenBudgets {
  /** Why a cluster cannot have one, by `namespace/name`. */
  readonly unmade = new Map<string, string>()
  readonly #specs = new Map<string, unknown>()

  noteMade({ namespace, name }: Pick<ClusterAnswer, 'namespace' | 'name'>, why: string | undefined): void {
    if (why === undefined) this.unmade.delete(`${namespace}/${name}`)
    else
      this.unmade.set(
        `${namespace}/${name}`,
        `its budget cannot be created: ${why} (spec.disruptionManagement.machineDisruptionBudgetNamespace says where)`,
      )
  }

  note(budget: MachineDisruptionBudget | undefined): void {
    if (budget?.metadata.uid !== undefined) this.#specs.set(budget.metadata.uid, budget.spec)
  }

  isForeign({ metadata, spec }: MachineDisruptionBudget): boolean {
    const ours = this.#specs.get(metadata.uid ?? '')
    return ours !== undefined && !isSameJson(ours, spec)
  }
}
