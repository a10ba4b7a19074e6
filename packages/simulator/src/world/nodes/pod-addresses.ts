import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { entryOf } from '../entry-of.ts'

/** Gives pods and nodes addresses: a /24 for the pods of each node, in the order in which nodes were first seen. */
export class PodAddresses {
  readonly #nodeNumbers = new Map<string, number>()
  readonly #used = new Map<string, Set<number>>()

  nodeAddress(node: Node): string {
    const number = this.#numberOf(node.metadata.name) + 1
    return `172.20.${number >> 8}.${number & 255}`
  }

  /** The lowest free address on the node. */
  take(node: string): string {
    const used = entryOf(this.#used, node, () => new Set<number>())
    let host = 2
    while (used.has(host)) host += 1
    used.add(host)
    const number = this.#numberOf(node)
    return `10.${64 + (number >> 8)}.${number & 255}.${host & 255}`
  }

  /** Marks an address that a pod held before we knew of it. */
  keep(node: string, address: string): void {
    entryOf(this.#used, node, () => new Set<number>()).add(hostOf(address))
  }

  free(node: string, address: string): void {
    this.#used.get(node)?.delete(hostOf(address))
  }

  #numberOf(node: string): number {
    return entryOf(this.#nodeNumbers, node, () => this.#nodeNumbers.size)
  }
}

function hostOf(address: string): number {
  return Number(address.split('.')[3])
}
