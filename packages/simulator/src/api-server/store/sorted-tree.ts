import type BTreeClass from 'sorted-btree'
import sortedBtree from 'sorted-btree'

type Tree = typeof BTreeClass.default

// The package is CommonJS with a default export: Node gives its whole `exports`, other loaders the class itself.
const exported = sortedBtree as unknown as Tree | { readonly default: Tree }
const BTree: Tree = 'default' in exported ? exported.default : exported

/** Objects by key, in the order lists are served. `clone()` is cheap: both trees share what neither changes. */
export type SortedTree<V> = InstanceType<typeof BTree<string, V>>

export function sortedTree<V>(): SortedTree<V> {
  return new BTree<string, V>(undefined, byCodeUnit)
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
