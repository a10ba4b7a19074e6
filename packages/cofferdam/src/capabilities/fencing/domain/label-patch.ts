import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { LabelChange } from './decision.ts'
import { marks } from './marks.ts'

/** The JSON merge patch that puts labels on a Machine or takes them off, and notes which of them are ours. */
export function buildLabelPatch(
  { add, remove, ours }: Pick<LabelChange, 'add' | 'remove' | 'ours'>,
  seen: Pick<Machine, 'metadata'>,
): JsonObject {
  return {
    metadata: {
      resourceVersion: seen.metadata.resourceVersion,
      labels: { ...add, ...Object.fromEntries(remove.map((key) => [key, null])) },
      annotations: { [marks.labels]: ours.length === 0 ? null : ours.join(',') },
    },
  }
}
