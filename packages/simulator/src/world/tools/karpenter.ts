import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import {
  type NodeClaim,
  type NodePool,
  nodeClaims,
  nodePoolLabel,
  nodePools,
} from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, deleteExactly, openTools } from '../actor.ts'
import type { PowerSwitch } from '../machines/power-cycle.ts'
import { isTerminating } from '../pod-facts.ts'
import { indexByNode } from '../workloads/owned-pods.ts'
import { startTermination, taintNode } from './karpenter-termination.ts'
import { podsToMove } from './scale-down-candidates.ts'

export interface Karpenter extends Actor {
  /** Nodes whose machine it has taken away, in order. */
  removed(): readonly string[]
  /** Pods that it deleted without asking a budget, in order. */
  deleted(): readonly string[]
}

type Reason = 'Empty' | 'Drifted'

const pollMs = 10_000
/** What was found empty is looked at again after so long. */
const validationMs = 15_000
const doNotDisrupt = 'karpenter.sh/do-not-disrupt'

/**
 * Karpenter 1.14 as far as it takes nodes: those that are empty, those that have drifted, within the budgets of their NodePool, and those
 * that have expired, whatever these say. Underutilised nodes and new ones are left out.
 */
export function startKarpenter(ports: ActorPorts & { readonly kubelet: PowerSwitch }): Karpenter {
  const tools = openTools('karpenter', ports)
  const claimView = tools.views.of(nodeClaims)
  const poolView = tools.views.of(nodePools)
  const nodeView = tools.views.of(nodes)
  const podView = tools.views.of(pods)
  const budgetView = tools.views.of(podDisruptionBudgets)
  const podsOn = indexByNode(podView)
  const lastPodEvent = new Map<string, number>()
  const marked = new Set<string>()
  const termination = startTermination(tools, ports.kubelet)

  tools.onStop(
    podView.subscribe(({ before, after }) => {
      const nodeName = (after ?? before)?.spec.nodeName
      const isEvent = before?.spec.nodeName !== after?.spec.nodeName || (after !== undefined && isTerminating(after))
      if (nodeName !== undefined && isEvent) lastPodEvent.set(nodeName, tools.clock.now())
    }),
  )

  async function poll(): Promise<void> {
    for (const claim of claimView.values()) await expire(claim)
    for (const pool of poolView.values()) {
      for (const reason of ['Empty', 'Drifted'] as const) await disrupt(pool, reason)
    }
  }

  /** One at a time: the next begins when the one before it is through with waiting. */
  let isPolling = false
  function pollOnce(): void {
    if (isPolling) return
    isPolling = true
    void poll()
      .catch((error: unknown) => tools.fail('poll', error))
      .finally(() => {
        isPolling = false
      })
  }

  /** Neither annotations nor budgets are asked. */
  async function expire(claim: NodeClaim): Promise<void> {
    const livesMs = parseDuration(claim.spec?.expireAfter ?? '')
    const bornMs = Date.parse(claim.metadata.creationTimestamp ?? '')
    if (livesMs === undefined || isTerminating(claim) || tools.clock.now() < bornMs + livesMs) return
    await deleteExactly(tools, nodeClaims, claim)
  }

  async function disrupt(pool: NodePool, reason: Reason): Promise<void> {
    const own = [...claimView.values()].filter(
      ({ metadata }) => metadata.labels?.[nodePoolLabel] === pool.metadata.name,
    )
    const going = own.filter((claim) => isTerminating(claim) || marked.has(claim.metadata.name)).length
    const candidates = own.filter((claim) => isCandidate(claim, pool, reason))
    const chosen = candidates.slice(0, Math.max(0, allowed(pool, reason, own.length) - going))
    if (chosen.length === 0) return
    if (reason === 'Empty') await sleep(tools.clock, validationMs)
    for (const { metadata } of chosen) {
      const claim = claimView.get(metadata.name)
      const node = nodeView.get(claim?.status?.nodeName ?? '')
      if (claim === undefined || node === undefined || !isCandidate(claim, pool, reason)) continue
      marked.add(metadata.name)
      await taintNode(tools, node)
      await deleteExactly(tools, nodeClaims, claim)
    }
  }

  function isCandidate(claim: NodeClaim, { spec }: NodePool, reason: Reason): boolean {
    const node = nodeView.get(claim.status?.nodeName ?? '')
    if (node === undefined || isTerminating(claim) || isTerminating(node) || marked.has(claim.metadata.name))
      return false
    if (node.metadata.annotations?.[doNotDisrupt] === 'true') return false
    const moving = podsToMove([...podsOn(node.metadata.name)])
    const isEventual = reason === 'Drifted' && claim.spec?.terminationGracePeriod !== undefined
    if (!isEventual && moving.some(isHeld)) return false
    if (reason === 'Drifted') return conditionOf(claim, 'Drifted')?.status === 'True'
    const afterMs = parseDuration(spec?.disruption?.consolidateAfter ?? '')
    if (afterMs === undefined || moving.length > 0) return false
    return tools.clock.now() >= lastEventOn(node) + afterMs
  }

  function lastEventOn({ metadata }: Node): number {
    return lastPodEvent.get(metadata.name) ?? Date.parse(metadata.creationTimestamp ?? '')
  }

  /** By its own annotation, or by a budget without disruptions left. */
  function isHeld({ metadata }: Pod): boolean {
    if (metadata.annotations?.[doNotDisrupt] === 'true') return true
    return [...budgetView.values()].some(({ metadata: { namespace }, spec: { selector }, status }) => {
      const isOver =
        selector !== undefined && namespace === metadata.namespace && isSelected(selector, metadata.labels ?? {})
      return isOver && (status?.disruptionsAllowed ?? 0) === 0
    })
  }

  tools.every(pollMs, pollOnce)
  return { stop: tools.stop, removed: termination.removed, deleted: termination.deleted }
}

/** The strictest of the pool's budgets for this reason; a tenth of its nodes where it has none. */
function allowed({ spec }: NodePool, reason: Reason, size: number): number {
  const budgets = spec?.disruption?.budgets ?? [{ nodes: '10%' }]
  const own = budgets.filter(({ reasons }) => reasons === undefined || reasons.includes(reason))
  return Math.min(
    size,
    ...own.map(({ nodes: limit }) => scaledValue(limit.endsWith('%') ? limit : Number(limit), size, 'up')),
  )
}
