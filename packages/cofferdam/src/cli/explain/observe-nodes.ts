import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { readStorage } from '../../capabilities/ceph-drain/observe/read-storage.ts'
import { readLonghornOn } from '../../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { explainNode } from '../../explain/explain-node.ts'
import type { Wedge } from '../../explain/explanation.ts'
import { findWedge } from '../../explain/find-wedge.ts'
import type { NodeSnapshot } from '../../explain/snapshot.ts'
import { readLonghornPlaces } from '../../observe/longhorn-places.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import type { Reader } from '../../observe/reader.ts'
import { isClosedToPods } from '../../shared/closed-node.ts'
import { podsOf, rehearsalFor } from '../observe/observe-guards.ts'

/** So many nodes are asked for their pods one by one; for more, all pods are listed at once. */
const mostAsked = 30

type SeenNode = NodeSnapshot & Required<Pick<NodeSnapshot, 'holds'>>

/** What `explain node` needs of each of these nodes, read once for all of them. */
export async function observeNodes(asked: readonly Node[], read: Reader): Promise<readonly SeenNode[]> {
  const { api, now, signal } = read
  const [onNodes, budgets] = await Promise.all([podsOn(asked, read), api.list(podDisruptionBudgets, { signal })])
  const guarding = onNodes.flatMap((pod) => budgetsOf(pod, budgets.items))
  const [peers, storage, holds, longhorn, longhornPlaces] = await Promise.all([
    podsOf(guarding, read),
    readStorage(read, budgets.items),
    observeHolds(read, budgets.items, read.notSeen),
    readLonghornOn(
      asked.map(({ metadata }) => metadata.name),
      guarding,
      read,
    ),
    readLonghornPlaces(read, budgets.items),
  ])
  const names = new Set(asked.map(({ metadata }) => metadata.name))
  const seen = [...onNodes, ...peers.filter(({ spec }) => !names.has(spec.nodeName ?? ''))]
  return Promise.all(
    asked.map(async (node) => {
      const { name } = node.metadata
      const own = onNodes.filter(({ spec }) => spec.nodeName === name)
      const rehearsal = await rehearsalFor(own, { name, storage, budgets: budgets.items, longhorn }, read)
      return {
        node,
        pods: seen,
        budgets: budgets.items,
        storage,
        holds,
        unread: [...read.notSeen],
        longhornPlaces,
        ...(longhorn && { longhorn }),
        ...rehearsal,
        now,
      }
    }),
  )
}

async function podsOn(asked: readonly Node[], { api, signal }: Reader): Promise<Pod[]> {
  if (asked.length > mostAsked) {
    const names = new Set(asked.map(({ metadata }) => metadata.name))
    const { items } = await api.list(pods, { signal })
    return items.filter(({ spec }) => names.has(spec.nodeName ?? ''))
  }
  const lists = await Promise.all(
    asked.map(({ metadata }) => api.list(pods, { fieldSelector: `spec.nodeName=${metadata.name}`, signal })),
  )
  return lists.flatMap(({ items }) => items)
}

/**
 * Whether one of these is in a circle of things that wait for each other. Asked only of what is blocked: it needs every node that takes
 * no pods, and what is on it.
 */
export async function observeWedge(objects: readonly string[], read: Reader): Promise<{ readonly wedge?: Wedge }> {
  const { api, signal, notSeen } = read
  const list = await ifAllowed('nodes, so circles of waits', notSeen, () => api.list(nodes, { signal }))
  const closed = (list?.items ?? []).filter(isClosedToPods)
  if (closed.length === 0) return {}
  const snapshots = await observeNodes(closed, read)
  const [first] = snapshots
  if (first === undefined) return {}
  const explained = snapshots.map((each) => ({ node: each.node, explanation: explainNode(each) }))
  const seen = { closed: explained, budgets: first.budgets, pods: first.pods }
  for (const object of objects) {
    const wedge = findWedge(seen, object)
    if (wedge !== undefined) return { wedge }
  }
  return {}
}
