import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { OsdView } from '../../../shared/parse-osd.ts'
import type { LostNode, NodeView } from './snapshot.ts'

/** How long Kubernetes and Ceph may differ on which OSDs run before that counts as a fact instead of a delay. */
export const catchUpMs = 60_000

const outOfService = 'node.kubernetes.io/out-of-service'

/** A node that never reported is no lost one. */
export function lostNode(node: Node): LostNode | undefined {
  const taint = node.spec?.taints?.find(({ key }) => key === outOfService)
  if (taint !== undefined) return { why: 'is out of service', sinceMs: parseRfc3339(taint.timeAdded ?? '') }
  const ready = conditionOf(node, 'Ready')
  if (ready === undefined || ready.status === 'True') return undefined
  const sinceMs = parseRfc3339(ready.lastTransitionTime ?? '')
  return { why: ready.status === 'Unknown' ? 'does not report (Ready is Unknown)' : 'is NotReady', sinceMs }
}

/**
 * OSDs whose pods still count as ready, on nodes that were lost: each with why it may be down, in words that name the node.
 *
 * Kubernetes corrects the pods later than the node, and Ceph may notice later than both. Ceph is believed again, also by a node that
 * stays lost while its OSDs run, when it has had the time in which it notices.
 */
export function osdsOnLostNodes(
  osds: readonly OsdView[],
  nodes: readonly NodeView[],
  nowMs: number,
): ReadonlyMap<number, string> {
  const found = new Map<number, string>()
  const byName = new Map(nodes.map((node) => [node.name, node]))
  for (const { id, isReady, isBeingReplaced, nodeName, hasPodOnNode } of osds) {
    if (!isReady || isBeingReplaced || !nodeName.known) continue
    const node = byName.get(nodeName.value)
    // Without a pod the name may be one that only Ceph knows.
    const why = node === undefined ? hasPodOnNode === true && 'was deleted' : whyPossiblyDown(node, nowMs)
    if (why !== undefined && why !== false) found.set(id, `node ${nodeName.value} ${why}`)
  }
  return found
}

function whyPossiblyDown({ lost }: NodeView, nowMs: number): string | undefined {
  if (lost === undefined) return undefined
  return lost.sinceMs !== undefined && nowMs - lost.sinceMs >= catchUpMs ? undefined : lost.why
}

/** When the first of them is believed again, if Ceph has it up by then. */
export function believedAgainInMs(nodes: readonly NodeView[], nowMs: number): number | undefined {
  const due = nodes.flatMap(({ lost }) => {
    const leftMs = lost?.sinceMs === undefined ? 0 : lost.sinceMs + catchUpMs - nowMs
    return leftMs > 0 ? [leftMs] : []
  })
  return due.length === 0 ? undefined : Math.min(...due)
}
