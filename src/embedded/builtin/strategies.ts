import type { ResourceStrategy } from '../resource-definition.ts'

const strategies: Readonly<Record<string, ResourceStrategy>> = {}

const plain: ResourceStrategy = {}

/** The rules of one kind beyond its schema; most kinds have none. */
export function strategyOf({ group, kind }: { readonly group: string; readonly kind: string }): ResourceStrategy {
  return strategies[`${group}/${kind}`] ?? plain
}
