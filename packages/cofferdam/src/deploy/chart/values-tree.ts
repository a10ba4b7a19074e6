import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { dump } from 'js-yaml'

/** A value that whoever installs may set: what it means, what it is without, and what it may be. */
export interface ValueLeaf {
  readonly says: string
  readonly default: unknown
  readonly schema: JsonObject
}

export interface ValueSection {
  readonly says?: string
  readonly values: ValueTree
}

export type ValueTree = Readonly<Record<string, ValueLeaf | ValueSection>>

const isSection = (value: ValueLeaf | ValueSection): value is ValueSection => 'values' in value

/** `values.yaml`: every value with its default, below what it means. */
export function valuesText(tree: ValueTree, depth = 0): string {
  const indent = '  '.repeat(depth)
  return Object.entries(tree)
    .map(([key, value]) => {
      const comment = value.says === undefined ? '' : `${indent}# ${value.says}\n`
      if (isSection(value)) return `${comment}${indent}${key}:\n${valuesText(value.values, depth + 1)}`
      const text = dump({ [key]: value.default }, { lineWidth: -1 })
      return `${comment}${text.replaceAll(/^(?=.)/gm, indent)}`
    })
    .join(depth === 0 ? '\n' : '')
}

/** `values.schema.json`: a value that is not in the tree is refused, so that a misspelt one does not pass for a default. */
export function valuesSchema(tree: ValueTree): JsonObject {
  const properties = Object.entries(tree).map(([key, value]) => {
    const description = value.says === undefined ? {} : { description: value.says }
    return [key, { ...description, ...(isSection(value) ? valuesSchema(value.values) : value.schema) }] as const
  })
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) }
}

/** `ceph.clusters`, … of all values that can be set. */
export function valuePaths(tree: ValueTree): string[] {
  return Object.entries(tree).flatMap(([key, value]) =>
    isSection(value) ? valuePaths(value.values).map((path) => `${key}.${path}`) : [key],
  )
}
