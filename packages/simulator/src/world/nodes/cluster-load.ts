import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { entryOf } from '../entry-of.ts'
import { isFinished } from '../pod-facts.ts'
import { type Amounts, amountsOf, podRequests } from './pod-requests.ts'
import { type PlacedPod, TopologyCounts } from './topology-counts.ts'

/** One node with what runs on it. */
export interface NodeLoad {
  node: Node
  allocatable: Amounts
  requested: Map<string, number>
  podCount: number
}

/** What is placed where, kept up to date change by change. */
export class ClusterLoad {
  readonly #loads = new Map<string, NodeLoad>()
  readonly #placed = new Map<string, { readonly pod: Pod; readonly nodeName: string }>()
  readonly #onNode = new Map<string, Set<string>>()
  readonly topology = new TopologyCounts(() => this.#placedPods())
  /** Grows whenever a place may have come free, so that a pod which found none knows when to try again. */
  freed = 0
  #order: NodeLoad[] | undefined

  /** All nodes, in an order that stays the same as long as no node comes or goes. */
  nodes(): readonly NodeLoad[] {
    this.#order ??= [...this.#loads.values()]
    return this.#order
  }

  node(name: string): NodeLoad | undefined {
    return this.#loads.get(name)
  }

  setNode(name: string, node: Node | undefined): void {
    const before = this.#loads.get(name)
    if (node === undefined) {
      this.#loads.delete(name)
      this.#order = undefined
      this.topology.reset()
      return
    }
    if (before !== undefined && isSameForScheduling(before.node, node)) {
      before.node = node
      return
    }
    const hasMoved = before === undefined || !isSameJson(before.node.metadata.labels, node.metadata.labels)
    const load = before ?? { node, allocatable: new Map(), requested: new Map(), podCount: 0 }
    load.node = node
    load.allocatable = amountsOf(node.status?.allocatable)
    this.freed += 1
    if (before === undefined) {
      this.#loads.set(name, load)
      this.#order = undefined
      for (const key of this.#onNode.get(name) ?? []) charge(load, (this.#placed.get(key) as { pod: Pod }).pod, 1)
    }
    if (hasMoved && (this.#onNode.get(name)?.size ?? 0) > 0) this.topology.reset()
  }

  /** Takes a pod in where it is; finished pods take no place. */
  setPod(key: string, pod: Pod | undefined): void {
    const nodeName = pod === undefined || isFinished(pod) ? undefined : pod.spec.nodeName
    const held = this.#placed.get(key)
    if (held !== undefined && pod !== undefined && held.nodeName === nodeName && isSameShape(held.pod, pod)) return
    if (held !== undefined) this.#take(key, held)
    if (pod !== undefined && nodeName !== undefined && nodeName !== '') this.#place(key, pod, nodeName)
  }

  /** Counts a pod as placed before the watch says so. */
  assume(pod: Pod, nodeName: string): void {
    this.setPod(keyText(keyOf(pod)), { ...pod, spec: { ...pod.spec, nodeName } })
  }

  #place(key: string, pod: Pod, nodeName: string): void {
    this.#placed.set(key, { pod, nodeName })
    entryOf(this.#onNode, nodeName, () => new Set<string>()).add(key)
    const load = this.#loads.get(nodeName)
    if (load === undefined) return
    charge(load, pod, 1)
    this.topology.add({ pod, node: load.node })
  }

  #take(key: string, { pod, nodeName }: { pod: Pod; nodeName: string }): void {
    this.#placed.delete(key)
    this.#onNode.get(nodeName)?.delete(key)
    this.freed += 1
    const load = this.#loads.get(nodeName)
    if (load === undefined) return
    charge(load, pod, -1)
    this.topology.remove({ pod, node: load.node })
  }

  *#placedPods(): Generator<PlacedPod> {
    for (const { pod, nodeName } of this.#placed.values()) {
      const load = this.#loads.get(nodeName)
      if (load !== undefined) yield { pod, node: load.node }
    }
  }
}

function charge(load: NodeLoad, pod: Pod, times: 1 | -1): void {
  load.podCount += times
  for (const [name, amount] of podRequests(pod.spec)) {
    load.requested.set(name, (load.requested.get(name) ?? 0) + times * amount)
  }
}

/** Labels decide whom a pod repels and how it is counted; the rest of its shape cannot change once it is placed. */
function isSameShape(a: Pod, b: Pod): boolean {
  return a.metadata.uid === b.metadata.uid && isSameJson(a.metadata.labels, b.metadata.labels)
}

function isSameForScheduling(a: Node, b: Node): boolean {
  return (
    isSameJson(a.metadata.labels, b.metadata.labels) &&
    isSameJson(a.spec, b.spec) &&
    isSameJson(a.status?.allocatable, b.status?.allocatable)
  )
}
