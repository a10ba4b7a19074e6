import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { ConfiguredNode, PoolView } from './snapshot.ts'

/**
 * The pool whose rules a node is updated by: the one of masters before all others, a pool of its administrator before the one of workers.
 * Undefined: none, or several of the administrator, of which the Machine Config Operator updates the node by none.
 */
export function poolOf(pools: readonly PoolView[], { labels }: Pick<ConfiguredNode, 'labels'>): PoolView | undefined {
  const selecting = pools.filter(({ selector }) => selector !== undefined && isSelected(selector, labels))
  const called = (wanted: string) => selecting.find(({ name }) => name === wanted)
  const own = selecting.filter(({ name }) => name !== master && name !== worker)
  if (own.length > 1) return undefined
  return called(master) ?? own[0] ?? called(worker)
}

const master = 'master'
const worker = 'worker'
