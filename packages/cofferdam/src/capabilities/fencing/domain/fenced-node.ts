import type { Fence } from './decision.ts'

/** No Machine can be called like this. */
const prefix = 'node:'

/** As what the fence of a node is recorded that no Machine has. */
export function nodeFence(node: string): string {
  return `${prefix}${node}`
}

/** The node that is fenced by itself; undefined: it is a Machine. */
export function fencedNode(called: string): string | undefined {
  return called.startsWith(prefix) ? called.slice(prefix.length) : undefined
}

/** `machine m-1 of node worker-1`, `node worker-1` */
export function fencedText({ machine, node }: Pick<Fence, 'machine' | 'node'>): string {
  const alone = fencedNode(machine)
  if (alone !== undefined) return `node ${alone}`
  return `machine ${machine}${node === '' ? '' : ` of node ${node}`}`
}
