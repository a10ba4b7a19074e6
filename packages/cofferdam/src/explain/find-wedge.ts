import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { covers } from '@cofferdam/kubernetes/api/disruption-rules.ts'

import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { isNodeChosen } from '@cofferdam/kubernetes/api/node-affinity.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { isStorageBudget } from '../capabilities/ceph-drain/view/blocked-domain.ts'
import { osdOf } from '../capabilities/ceph-drain/view/storage-budget.ts'
import type { Blocker } from '../shared/blocker.ts'
import { waitsForClosedNode } from '../shared/closed-node.ts'
import { explainPodHealth } from '../shared/pod-health.ts'
import { isQuorumBudget } from '../shared/quorum-budget.ts'
import type { Reason } from '../shared/reasons.ts'
import type { NodeExplanation, Wedge } from './explanation.ts'

export interface WedgeSnapshot {
  /** Every node that takes no new pods, and what `explain node` says of it. */
  readonly closed: readonly { readonly node: Node; readonly explanation: NodeExplanation }[]
  readonly budgets: readonly PodDisruptionBudget[]
  /** Of the namespaces of those budgets. */
  readonly pods: readonly Pod[]
}

/** What one thing waits for: enough of these must come true. Fewer than `enough` in the list: something that is not known here helps. */
interface Wait {
  readonly says: string
  readonly on: readonly string[]
  readonly enough: number
}

/**
 * The circle that the object is in, or waits for. Undefined where it waits for something that may still come: then there is none.
 *
 * A node that is cordoned counts as being drained while a pod on it may not go.
 */
export function findWedge(snapshot: WedgeSnapshot, object: string): Wedge | undefined {
  const waits = waitsOf(snapshot)
  const stuck = stuckAmong(waits)
  if (!stuck.has(object)) return undefined
  const path: string[] = []
  for (let at = object; !path.includes(at); ) {
    path.push(at)
    const next = waits.get(at)?.on.find((each) => stuck.has(each))
    if (next === undefined) return undefined
    at = next
    if (path.includes(at)) return wedgeOf(path.slice(path.indexOf(at)), waits, snapshot)
  }
  return undefined
}

/** All that cannot end whatever else ends: what is left when everything that may come has come. */
function stuckAmong(waits: ReadonlyMap<string, Wait>): ReadonlySet<string> {
  const stuck = new Set(waits.keys())
  for (let before = -1; before !== stuck.size; ) {
    before = stuck.size
    for (const object of stuck) {
      const { on, enough } = waits.get(object) as Wait
      if (on.filter((each) => !stuck.has(each)).length >= enough) stuck.delete(object)
    }
  }
  return stuck
}

function waitsOf(snapshot: WedgeSnapshot): ReadonlyMap<string, Wait> {
  const waits = new Map<string, Wait>()
  for (const { explanation } of snapshot.closed) {
    const held = explanation.pods.filter(({ verdict }) => verdict === 'waits').map(({ pod }) => `pod/${pod}`)
    if (held.length === 0) continue
    waits.set(explanation.object, allOf(held, `is cordoned and waits until ${shortly(held)} may go`))
    for (const pod of held) {
      const blockers = explanation.blockers.filter(({ waiting }) => waiting.includes(pod))
      waits.set(
        pod,
        allOf(
          blockers.map((each) => each.object),
          `waits for ${shortly(blockers.map((each) => each.object))}`,
        ),
      )
      for (const blocker of blockers) waits.set(blocker.object, waitOfBlocker(blocker, snapshot))
    }
  }
  for (const pod of snapshot.pods) {
    const wait = placeWait(pod, snapshot)
    if (wait !== undefined) waits.set(objectOf(pod), wait)
  }
  return waits
}

const exhausted: Reason = 'BudgetExhausted'
/** Of a node whose failure domain may not go now: it may when the OSDs of the others are back. */
const follows: Reason = 'FollowsOsds'
const open: Wait = { says: '', on: [], enough: 0 }

/** Enough healthy pods for a budget, every OSD for storage and what follows it, every monitor for the quorum; anything else may end by itself. */
function waitOfBlocker({ object, reason, holder }: Blocker, { budgets, pods }: WedgeSnapshot): Wait {
  const budget = budgets.find((each) => `pdb/${keyText(keyOf(each))}` === object)
  const isOfOsds = budget !== undefined && (isStorageBudget(budget) || reason === follows)
  if (isOfOsds || holder.startsWith('cephcluster/')) {
    const namespace = budget?.metadata.namespace ?? holder.split('/')[1]
    return backAgain(
      pods.filter((pod) => pod.metadata.namespace === namespace && osdOf(pod) !== undefined),
      'every OSD',
    )
  }
  if (budget === undefined) return open
  const covered = pods.filter((pod) => covers(budget, pod))
  if (isQuorumBudget(budget)) return backAgain(covered, 'every monitor')
  if (reason !== exhausted) return open
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {}
  const away = covered.filter((pod) => !explainPodHealth(pod).isHealthy)
  const notMade = Math.max(0, expectedPods - covered.length)
  const needed = desiredHealthy + 1 - currentHealthy - notMade
  if (needed <= 0) return open
  return { says: `waits until ${shortly(away.map(objectOf))} is healthy`, on: away.map(objectOf), enough: needed }
}

/** What is away for another reason than its place may come back by itself, and so may an answer of Ceph when none is away. */
function backAgain(pods: readonly Pod[], who: string): Wait {
  const away = pods.filter((pod) => !explainPodHealth(pod).isHealthy).map(objectOf)
  return away.length === 0 ? open : allOf(away, `waits until ${who} is back, ${shortly(away)} first`)
}

/** A pod without a node waits for any closed node that it would accept; others refuse it for reasons of their own. */
function placeWait(pod: Pod, { closed, pods }: WedgeSnapshot): Wait | undefined {
  if (!waitsForClosedNode(pod)) return undefined
  const places = closed
    .filter(({ node }) => isNodeChosen(node, pod.spec) && !avoids(pod, node.metadata.name, pods))
    .map(({ node }) => `node/${node.metadata.name}`)
  if (places.length === 0) return undefined
  return { says: `has no node and waits until ${shortly(places)} takes pods again`, on: places, enough: 1 }
}

/** Whether a pod is on the node beside which it never runs. */
function avoids({ spec, metadata }: Pod, nodeName: string, pods: readonly Pod[]): boolean {
  const rules = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const own = rules.filter(({ topologyKey }) => topologyKey === 'kubernetes.io/hostname')
  return pods.some(
    (other) =>
      other.spec.nodeName === nodeName &&
      other.metadata.namespace === metadata.namespace &&
      own.some(({ labelSelector }) => labelSelector !== undefined && isSelected(labelSelector, other.metadata.labels)),
  )
}

function wedgeOf(circle: readonly string[], waits: ReadonlyMap<string, Wait>, { closed }: WedgeSnapshot): Wedge {
  const first = circle.findIndex((object) => object.startsWith('node/'))
  const ordered = [...circle.slice(first), ...circle.slice(0, first)]
  const candidates = closed
    .filter(({ explanation }) => circle.includes(explanation.object))
    .sort((a, b) => leavers(b.explanation) - leavers(a.explanation))
  const [best] = candidates
  const name = best?.node.metadata.name ?? ''
  const isRequested = (best?.explanation.disruptions.length ?? 0) > 0
  return {
    circle: ordered.map((object) => ({ object, says: waits.get(object)?.says ?? '' })),
    wayOut: isRequested ? `cofferdam uncordon ${name}` : `kubectl uncordon ${name}`,
    cost: 'Its drain starts again later; no pod and no data is lost.',
  }
}

/** The node with the most pods left has lost the least when its drain starts again. */
function leavers({ pods }: NodeExplanation): number {
  return pods.filter(({ verdict }) => verdict !== 'stays').length
}

function allOf(on: readonly string[], says: string): Wait {
  return { says, on, enough: on.length }
}

function shortly(objects: readonly string[]): string {
  const [first = '', ...more] = objects
  return more.length === 0 ? first : `${first} (and ${more.length} more)`
}

function objectOf(pod: Pod): string {
  return `pod/${keyText(keyOf(pod))}`
}
