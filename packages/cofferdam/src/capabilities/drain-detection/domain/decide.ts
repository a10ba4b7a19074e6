import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { harmlessText } from '../../../shared/harmless-text.ts'
import type { PodOnNode } from '../../../shared/pod-on-node.ts'
import { type Reason, reasons } from '../../../shared/reasons.ts'
import type { DrainSnapshot, GoneNode } from './snapshot.ts'
import type { DrainStep } from './steps.ts'

export interface DrainDecision {
  readonly reason: Reason
  /** What the node's conditions should say; empty when they say it already. */
  readonly conditions: readonly Condition[]
  /** When a drain that is seen by its attempts alone would count as ended. */
  readonly recheckAfterMs?: number
}

export interface DrainPlan {
  readonly steps: readonly DrainStep[]
  readonly recheckAfterMs?: number
}

/** No attempt for so long, and the drain has ended. */
const defaultQuietMs = 300_000

interface Wanted {
  readonly status: Condition['status']
  readonly reason: Reason
  readonly message?: string
}

/**
 * What is to be done about the conditions of a node; `undefined`: there is no such node.
 *
 * Guarantees: that a node is drained is only ever written on what the API server listed. A copy that is behind does not show the pod
 * that came last, and whoever reads the condition takes the machine down.
 */
export function decideDrain(snapshot: DrainSnapshot | GoneNode | undefined): DrainPlan {
  if (snapshot === undefined) return { steps: [] }
  if ('gone' in snapshot) return { steps: reportGone(snapshot) }
  const nodeName = snapshot.node.name
  const { conditions, recheckAfterMs } = decideDrainConditions(snapshot)
  if (snapshot.isFresh !== true && saysDrained(conditions)) return { steps: [{ do: 'ask', nodeName }] }
  return {
    steps: conditions.length === 0 ? [] : [{ do: 'write', nodeName, conditions }],
    ...(recheckAfterMs === undefined ? {} : { recheckAfterMs }),
  }
}

/** Whoever deletes a Node with pods on it has asked no budget for them. Those that were leaving already are left out. */
function reportGone({ gone: nodeName, pods }: GoneNode): DrainStep[] {
  const left = pods.filter(({ mustLeave, isLeaving }) => mustLeave && !isLeaving)
  const names = left.map(({ namespace, name }) => `${namespace}/${name}`).sort()
  return names.length === 0 ? [] : [{ do: 'report', nodeName, pods: names }]
}

/**
 * Decides whether a node is being drained: from attempts that a guard saw, and from what its pods show.
 *
 * A cordon alone is no drain: administrators cordon nodes for many reasons. Nor is an eviction from a node that takes new
 * pods: autoscalers and balancers do that all day. A drain that a guard saw ends when nobody tries any more; one that was
 * seen by its pods alone goes on until the node is uncordoned or nothing is left, so that one which waits for a budget
 * does not look as if it were over.
 *
 * Guarantees: a node is drained only if no pod is left on it that a drain removes, running or terminating, but for
 * those that a request leaves there and holds the budgets of. Whoever reads that takes the machine down.
 */
export function decideDrainConditions(seen: DrainSnapshot): DrainDecision {
  const { node, pods, now } = seen
  const remaining = pods.filter((pod) => pod.mustLeave && !isLeftByRequest(pod, seen))
  const before = node.drainInProgress
  const podsRemain = { status: 'False', reason: 'PodsRemain' } as const
  if (!node.isCordoned) {
    const isUntouched = before === undefined && node.drained === undefined
    const open = { status: 'False', reason: 'NotCordoned' } as const
    // A node that was never drained carries no conditions of ours, and gets none.
    return { reason: 'NotCordoned', conditions: isUntouched ? [] : changes(open, open) }
  }
  if (remaining.length === 0) {
    const reason = 'DrainCompleted'
    return { reason, conditions: changes({ status: 'False', reason }, { status: 'True', reason }) }
  }
  const wasSeenByGuard = before?.status === 'True' && before.reason === 'EvictionAttempted'
  const quietForMs = quietTime(seen)
  const arePodsLeaving = remaining.some((pod) => pod.isEvicted)
  if (quietForMs !== undefined || (wasSeenByGuard && arePodsLeaving)) {
    const conditions = changes({ status: 'True', reason: 'EvictionAttempted', message: attemptMessage() }, podsRemain)
    const recheck = quietForMs === undefined ? {} : { recheckAfterMs: quietForMs }
    return { reason: 'EvictionAttempted', conditions, ...recheck }
  }
  if (arePodsLeaving || (before?.status === 'True' && !wasSeenByGuard)) {
    return { reason: 'PodsLeaving', conditions: changes({ status: 'True', reason: 'PodsLeaving' }, podsRemain) }
  }
  const reason = wasSeenByGuard || before?.reason === 'DrainEnded' ? 'DrainEnded' : 'CordonedOnly'
  return { reason, conditions: changes({ status: 'False', reason }, podsRemain) }

  function attemptMessage(): string {
    if (node.attempt === undefined) return before?.message ?? reasons.EvictionAttempted
    const since = before?.status === 'True' ? (before.lastTransitionTime ?? now) : now
    const { by, refusedFor = '' } = node.attempt
    const refused =
      refusedFor === ''
        ? ''
        : ` Refused for ${harmlessText(refusedFor)}; cofferdam explain node/${node.name} says more.`
    return `${harmlessText(by) || 'Somebody'} has tried to evict pods of this node; seen since ${since}.${refused}`
  }

  function changes(inProgress: Wanted, drained: Wanted): Condition[] {
    return [...change('DrainInProgress', before, inProgress), ...change('Drained', node.drained, drained)]
  }

  function change(type: string, actual: Condition | undefined, { status, reason: why, message }: Wanted): Condition[] {
    const says = message ?? reasons[why]
    const isSame = actual?.status === status && actual.reason === why
    if (isSame && (message === undefined || actual.message === message)) return []
    const lastTransitionTime = actual?.status === status ? (actual.lastTransitionTime ?? now) : now
    return [{ type, status, reason: why, message: says, lastTransitionTime }]
  }
}

function saysDrained(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === 'Drained' && status === 'True')
}

function isLeftByRequest({ uid, isLeaving }: PodOnNode, { leftByRequest }: DrainSnapshot): boolean {
  return !isLeaving && leftByRequest.includes(uid)
}

/** How long the last attempt still counts; undefined when there was none, or none lately. */
function quietTime({ node, now, quietMs = defaultQuietMs }: DrainSnapshot): number | undefined {
  const nowMs = parseRfc3339(now)
  if (node.attempt === undefined || nowMs === undefined) return undefined
  const leftMs = node.attempt.atMs + quietMs - nowMs
  // One that is dated further ahead than clocks differ was not written by a guard that saw it.
  return leftMs > 0 && leftMs <= 2 * quietMs ? leftMs : undefined
}
