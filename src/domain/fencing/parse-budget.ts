import type { MachineDisruptionBudget } from '../../api/machines.ts'
import { parseRfc3339 } from '../ceph-drain/timestamp.ts'
import { managedByUs } from './budget-object.ts'
import { marks } from './marks.ts'
import { parseFences } from './recorded-fences.ts'
import type { MachineBudgetView } from './snapshot.ts'

const prefix = 'fencegroup.rook.io/'

export interface ParsedBudget {
  readonly view: MachineBudgetView
  readonly problem: string | undefined
}

/** A view comes out of anything; what is wrong with the object comes with it. */
export function parseMachineBudget(budget: MachineDisruptionBudget): ParsedBudget {
  const { namespace = '', name, uid = '', generation = 0, annotations = {}, labels = {} } = budget.metadata
  const fences = parseFences(annotations[marks.fences])
  const selected = Object.keys(fieldsOf(budget.spec?.selector?.matchLabels))
  const status = fieldsOf(budget.status)
  const disrupted = new Map<string, number>()
  for (const [machine, at] of Object.entries(fieldsOf(status['disruptedMachines']))) {
    disrupted.set(machine, (typeof at === 'string' ? parseRfc3339(at) : undefined) ?? 0)
  }
  const maxUnavailable: unknown = budget.spec?.maxUnavailable
  return {
    view: {
      namespace,
      name,
      uid,
      generation,
      isOurs: Object.entries(managedByUs).every(([key, value]) => labels[key] === value),
      maxUnavailable:
        typeof maxUnavailable === 'number' && Number.isInteger(maxUnavailable) ? maxUnavailable : undefined,
      labelKey: selected.length === 1 && selected[0]?.startsWith(prefix) === true ? selected[0] : undefined,
      disrupted,
      fences: fences.known ? fences.value : new Map(),
      isRecordReadable: fences.known,
      status: {
        observedGeneration: countOf(status['observedGeneration']),
        disruptionsAllowed: countOf(status['disruptionsAllowed']),
        currentHealthy: countOf(status['currentHealthy']),
        desiredHealthy: countOf(status['desiredHealthy']),
        expectedMachines: countOf(status['expectedMachines']),
      },
    },
    problem: fences.known
      ? undefined
      : `annotation ${marks.fences}: ${fences.why}; until it is corrected or deleted no machine may be fenced`,
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : -1
}
