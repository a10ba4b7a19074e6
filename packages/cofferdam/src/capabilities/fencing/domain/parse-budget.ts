import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { fenceLabelPrefix, fenceLabelValue } from './fence-labels.ts'
import { marks } from './marks.ts'
import { parseFences } from './recorded-fences.ts'
import type { MachineBudgetView } from './snapshot.ts'

export interface ParsedBudget {
  readonly view: MachineBudgetView
  readonly problem: string | undefined
}

/** A view comes out of anything; what is wrong with the object comes with it. */
export function parseMachineBudget(budget: MachineDisruptionBudget): ParsedBudget {
  const { namespace = '', name, uid = '', generation = 0, annotations = {} } = budget.metadata
  const clusterUid = annotations[marks.clusterUid]
  const fences = parseFences(annotations[marks.fences])
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
      isOurs: clusterUid !== undefined,
      clusterUid,
      maxUnavailable:
        typeof maxUnavailable === 'number' && Number.isInteger(maxUnavailable) ? maxUnavailable : undefined,
      labelKey: labelKeyOf(budget.spec?.selector),
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

/** The label key of a selector that is exactly as we write it. */
function labelKeyOf(selector: unknown): string | undefined {
  const { matchLabels, ...more } = fieldsOf(selector)
  const [first, ...rest] = Object.entries(fieldsOf(matchLabels))
  if (first === undefined || rest.length > 0 || Object.keys(more).length > 0) return undefined
  const [key, value] = first
  return key.startsWith(fenceLabelPrefix) && value === fenceLabelValue ? key : undefined
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : -1
}
