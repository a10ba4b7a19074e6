import type { CompiledSchema } from './compiled-schema.ts'

/** The items of an earlier list by their keys. Lists are never changed, and each is asked about every item of its successor. */
const indexes = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>()

/** The item of the earlier list that this one continues. Only lists keyed like maps have such a thing. */
export function earlierItem({ item, index, earlier, node }: ItemPlace): unknown {
  const { listMapKeys, decoded } = node
  if (decoded || (earlier[index] === item && typeof item === 'object')) return earlier[index]
  if (listMapKeys === undefined || typeof item !== 'object' || item === null) return undefined
  return indexOf(earlier, listMapKeys).get(keyText(item, listMapKeys))
}

function indexOf(earlier: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> {
  const known = indexes.get(earlier)
  if (known !== undefined) return known
  const index = new Map<string, unknown>()
  for (const each of earlier) {
    const text = keyText(each, keys)
    if (!index.has(text)) index.set(text, each)
  }
  indexes.set(earlier, index)
  return index
}

/** Keys of list maps are scalars. */
function keyText(item: unknown, keys: readonly string[]): string {
  const keyed = (item ?? {}) as Record<string, unknown>
  return JSON.stringify(keys.map((key) => keyed[key]))
}

export interface ItemPlace {
  readonly item: unknown
  readonly index: number
  readonly earlier: readonly unknown[]
  /** The schema of the list. */
  readonly node: CompiledSchema
}
