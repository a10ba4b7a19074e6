import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type {
  MachineDisruptionBudget,
  MachineDisruptionBudgetStatus,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { buildMachineBudget } from './budget-object.ts'
import type { ClusterAnswer, Fence, WantedMachineBudget } from './decision.ts'
import { marks } from './marks.ts'
import { fencesText, parseFences } from './recorded-fences.ts'

export interface BudgetOfCluster {
  readonly cluster: Pick<ClusterAnswer, 'namespace' | 'name' | 'uid'>
  readonly budget: WantedMachineBudget
  /** All of the decision: those of other clusters and those that are over are passed over. */
  readonly fences: readonly Fence[]
  /** Annotations that say what was decided; those that are there stay when absent. */
  readonly notes?: Readonly<Record<string, string>>
}

/**
 * The budget to put in place of the one that was seen, whatever was changed on it by hand; undefined: it is as it should be.
 * It carries the resourceVersion that was seen.
 *
 * Guarantees: labels and annotations of others stay. A record of fences that cannot be read stays for somebody to inspect.
 */
export function buildBudgetUpdate(
  seen: MachineDisruptionBudget,
  wanted: BudgetOfCluster,
): MachineDisruptionBudget | undefined {
  const { metadata, spec } = buildMachineBudget(wanted.budget, wanted.cluster)
  const { [marks.fences]: record, ...others } = seen.metadata.annotations ?? {}
  const text = parseFences(record).known ? fencesText(underWay(wanted)) : record
  const labels = { ...seen.metadata.labels, ...metadata.labels }
  const annotations = {
    ...others,
    ...metadata.annotations,
    ...wanted.notes,
    ...(text === undefined ? {} : { [marks.fences]: text }),
  }
  const isAsWanted =
    isSameJson(seen.spec, spec) &&
    isSameJson(seen.metadata.labels, labels) &&
    isSameJson(seen.metadata.annotations, annotations)
  if (isAsWanted) return undefined
  return { ...seen, metadata: { ...seen.metadata, labels, annotations }, spec }
}

/** The budget with what was decided written on it; undefined: it says that already. */
export function buildNotedBudget(
  seen: MachineDisruptionBudget,
  notes: Readonly<Record<string, string>>,
): MachineDisruptionBudget | undefined {
  const annotations = { ...seen.metadata.annotations, ...notes }
  if (isSameJson(seen.metadata.annotations, annotations)) return undefined
  return { ...seen, metadata: { ...seen.metadata, annotations } }
}

/**
 * The status to put in place of the one that was seen; undefined: it is as it should be.
 *
 * Guarantees: an entry of a remediator keeps its time, and goes only when its fence is over.
 * Assumes: it is written against the resourceVersion that was seen, so that an entry that came since is not lost.
 */
export function buildBudgetStatus(
  seen: MachineDisruptionBudget,
  wanted: BudgetOfCluster,
): MachineDisruptionBudgetStatus | undefined {
  const { disrupted: _, ...counts } = wanted.budget.status
  const written = new Map(Object.entries(seen.status?.disruptedMachines ?? {}))
  const entries = [...underWay(wanted)].map(([machine, { sinceMs }]) => [
    machine,
    written.get(machine) ?? rfc3339(sinceMs),
  ])
  const status: MachineDisruptionBudgetStatus = {
    observedGeneration: seen.metadata.generation ?? 0,
    ...counts,
    ...(entries.length === 0 ? {} : { disruptedMachines: Object.fromEntries(entries) as Record<string, string> }),
  }
  return isSameJson(withoutEmpty(seen.status), status) ? undefined : status
}

function underWay({ cluster, fences }: BudgetOfCluster): ReadonlyMap<string, Fence> {
  const own = fences.filter((fence) => !fence.isOver && fence.cluster.uid === cluster.uid)
  return new Map(own.map((fence) => [fence.machine, fence]))
}

function withoutEmpty(status: MachineDisruptionBudgetStatus | undefined): unknown {
  if (status === undefined) return undefined
  const { disruptedMachines, ...counts } = status
  return Object.keys(disruptedMachines ?? {}).length === 0 ? counts : status
}
