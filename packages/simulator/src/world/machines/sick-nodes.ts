import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import type { UnhealthyCondition } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** A condition that makes a node sick when it has lasted. */
export interface Sickness {
  readonly type: string
  readonly status: string
  readonly lastsMs: number
}

const usualMs = 300_000

/** NotReady, or not heard of. */
export function notReadyFor(lastsMs: number): readonly Sickness[] {
  return ['False', 'Unknown'].map((status) => ({ type: 'Ready', status, lastsMs }))
}

/** As health checks have them. Without any, five minutes of not being ready. */
export function parseSicknesses(conditions: readonly UnhealthyCondition[] | undefined): readonly Sickness[] {
  if (conditions === undefined || conditions.length === 0) return notReadyFor(usualMs)
  return conditions.map(({ type, status, timeout, duration }) => ({
    type,
    status,
    lastsMs: parseDuration(timeout ?? duration ?? '') ?? usualMs,
  }))
}

/** When the node is, or will be, sick for long enough; undefined while nothing ails it. */
export function sickAtMs(node: Node, sicknesses: readonly Sickness[]): number | undefined {
  const due = sicknesses.flatMap(({ type, status, lastsMs }) => {
    const condition = conditionOf(node, type)
    const since = parseRfc3339(condition?.lastTransitionTime ?? '')
    return condition?.status === status && since !== undefined ? [since + lastsMs] : []
  })
  return due.length === 0 ? undefined : Math.min(...due)
}

/** Whether anything changed that may make a node sick or well: its beats do not. */
export function isOtherHealth(before: Node | undefined, after: Node | undefined): boolean {
  if (before === undefined || after === undefined) return true
  if (before.status?.nodeInfo?.bootID !== after.status?.nodeInfo?.bootID) return true
  if (before.metadata.labels !== after.metadata.labels) return true
  const states = (node: Node) => (node.status?.conditions ?? []).map(({ type, status }) => `${type}=${status}`).join()
  return states(before) !== states(after)
}
