import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CompiledSchema } from './compiled-schema.ts'

/** The item of the earlier list that this one continues. Only lists keyed like maps have such a thing. */
export function earlierItem({ item, index, earlier, node }: ItemPlace): unknown {
  const { listMapKeys, decoded } = node
  if (decoded || (earlier[index] === item && typeof item === 'object')) return earlier[index]
  if (listMapKeys === undefined || typeof item !== 'object' || item === null) return undefined
  const keyed = item as Record<string, unknown>
  return earlier.find((candidate) =>
    listMapKeys.every((key) => isSameJson((candidate as Record<string, unknown> | null)?.[key], keyed[key])),
  )
}

export interface ItemPlace {
  readonly item: unknown
  readonly index: number
  readonly earlier: readonly unknown[]
  /** The schema of the list. */
  readonly node: CompiledSchema
}
