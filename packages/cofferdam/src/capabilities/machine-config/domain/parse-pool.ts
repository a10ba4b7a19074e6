import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { MachineConfigPool } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { PauseMark, PoolView } from './snapshot.ts'

/** On a pool, by its administrator. */
export const managePauseAnnotation = 'cofferdam.io/manage-pause'
/** On a pool, by Cofferdam: `{"since": "…", "for": "…"}` while its pause stands, `{"lifted": "…"}` after one that ended before its time. */
export const pausedByAnnotation = 'cofferdam.io/paused-by'

/** Never throws: the object is another's, and may hold anything. */
export function parsePool({ apiVersion, kind, metadata, spec }: MachineConfigPool): PoolView {
  const { name, uid, resourceVersion, annotations = {}, deletionTimestamp } = metadata
  const { nodeSelector, paused } = (isJsonObject(spec as Json | undefined) ? spec : {}) as {
    readonly nodeSelector?: Json
    readonly paused?: Json
  }
  return {
    name,
    about: {
      apiVersion,
      kind,
      metadata: {
        name,
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
    },
    selector: parseSelector(nodeSelector),
    isPaused: paused === true,
    isManaged: annotations[managePauseAnnotation] === 'true',
    isDeleted: deletionTimestamp !== undefined,
    mark: parseMark(annotations[pausedByAnnotation]),
  }
}

function parseMark(text: string | undefined): PauseMark {
  if (text === undefined) return { is: 'absent' }
  const mark = parsedJson(text)
  if (!isJsonObject(mark)) return { is: 'changed' }
  const { since, lifted } = mark
  if (typeof lifted === 'string') return { is: 'lifted' }
  const sinceMs = typeof since === 'string' ? parseRfc3339(since) : undefined
  return sinceMs === undefined ? { is: 'changed' } : { is: 'paused', sinceMs }
}

function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const operators: readonly Json[] = ['In', 'NotIn', 'Exists', 'DoesNotExist']

/** One that selects everything is refused by the Machine Config Operator too. */
function parseSelector(selector: Json | undefined): LabelSelector | undefined {
  if (!isJsonObject(selector)) return undefined
  const { matchLabels = {}, matchExpressions = [] } = selector
  const isReadable =
    isJsonObject(matchLabels) &&
    Object.values(matchLabels).every((value) => typeof value === 'string') &&
    Array.isArray(matchExpressions) &&
    matchExpressions.every(isRequirement)
  if (!isReadable || Object.keys(matchLabels).length + matchExpressions.length === 0) return undefined
  return { matchLabels, matchExpressions } as unknown as LabelSelector
}

function isRequirement(requirement: Json): boolean {
  if (!isJsonObject(requirement)) return false
  const { key, operator, values = [] } = requirement
  return typeof key === 'string' && operators.includes(operator ?? null) && Array.isArray(values)
}

/** Whether the pause of the pool is ours. */
export function isPausedByUs({ isPaused, mark }: Pick<PoolView, 'isPaused' | 'mark'>): boolean {
  return isPaused && mark.is === 'paused'
}
