import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Schema } from '../schema/schema.ts'
import { goValueText } from './go-value-text.ts'
import { ownField } from './own-field.ts'
import { rejectedPatch, unclassifiedFailure } from './patch-failure.ts'
import {
  fieldsWithoutDirectives,
  mapOf,
  mergeKeyOf,
  type PatchRule,
  patchDirective,
  setElementOrderPrefix,
  withoutDirectives,
} from './strategic-directives.ts'

/** Merges one item of a list into the item with the same key. */
export type MergeItem = (current: JsonObject, patch: JsonObject, schema: Schema | undefined) => JsonObject

export interface ListPatch {
  readonly current: readonly Json[]
  readonly patch: readonly Json[]
  readonly rule: PatchRule
  readonly mergeItem: MergeItem
}

/** A list field after its patch: replaced, or merged when the schema says `merge`. */
export function mergeList(change: ListPatch): readonly Json[] {
  const { current, patch, rule } = change
  if (rule.strategy !== 'merge') return withoutDirectives(patch) as readonly Json[]
  const kind = itemKind([...current, ...patch])
  if (kind === undefined) return current
  if (kind === 'scalar') return arrange([...new Set([...current, ...patch])], patch, current, undefined)
  if (rule.mergeKey === undefined) {
    throw unclassifiedFailure('cannot merge lists without merge key for slice')
  }
  return mergeMaps(change, rule.mergeKey)
}

/** A list that `$setElementOrder` speaks of: its patch if there is one, then the order the patch asks for. */
export function mergeOrderedList(
  change: Omit<ListPatch, 'current' | 'patch'> & {
    readonly current: readonly Json[] | undefined
    readonly patch: readonly Json[] | undefined
    readonly order: readonly Json[]
  },
): readonly Json[] | undefined {
  const { current, patch, order, rule } = change
  requireSameOrder(patch ?? [], order, rule.mergeKey)
  if (current === undefined && patch === undefined) return undefined
  const merged =
    patch === undefined
      ? (current as readonly Json[])
      : current === undefined
        ? (withoutDirectives(patch) as readonly Json[])
        : mergeList({ ...change, current, patch })
  return arrange(merged, order, current ?? [], rule.mergeKey)
}

function mergeMaps({ current, patch, rule, mergeItem }: ListPatch, mergeKey: string): readonly Json[] {
  const { remaining, ordinary, isReplaced } = applyItemDirectives(current, patch, mergeKey)
  if (isReplaced) return ordinary.map((item) => fieldsWithoutDirectives(item))
  const merged: Json[] = [...remaining]
  for (const item of ordinary) {
    const key = mergeKeyOf(item, mergeKey)
    const index = merged.findIndex((candidate) => isSameJson(ownField(mapOf(candidate), mergeKey), key))
    if (index < 0) merged.push(fieldsWithoutDirectives(item))
    else merged[index] = mergeItem(merged[index] as JsonObject, item, rule.schema?.items)
  }
  return arrange(merged, ordinary, remaining, mergeKey)
}

function applyItemDirectives(current: readonly Json[], patch: readonly Json[], mergeKey: string) {
  let remaining = current
  let isReplaced = false
  const ordinary: JsonObject[] = []
  for (const item of patch as readonly JsonObject[]) {
    const directive = ownField(item, patchDirective)
    if (directive === undefined) {
      ordinary.push(item)
    } else if (directive === 'delete') {
      const key = mergeKeyOf(item, mergeKey)
      remaining = remaining.filter((candidate) => !isSameJson(ownField(mapOf(candidate), mergeKey), key))
    } else if (directive === 'replace') {
      isReplaced = true
    } else if (directive === 'merge') {
      throw unclassifiedFailure('merging lists cannot yet be specified in the patch')
    } else {
      throw unclassifiedFailure(`unknown patch type: ${goValueText(directive)} in map: ${goValueText(item)}`)
    }
  }
  return { remaining, ordinary, isReplaced }
}

/** Items the patch names stand in the patch's order; the others keep their place among them as far as that is possible. */
function arrange(
  items: readonly Json[],
  order: readonly Json[],
  before: readonly Json[],
  mergeKey: string | undefined,
): readonly Json[] {
  const identity = (item: Json) => JSON.stringify(mergeKey === undefined ? item : mergeKeyOf(item, mergeKey))
  const rank = rankOf(order.map(identity))
  const place = rankOf(before.map(identity))
  const ranked = items.map((item) => ({ item, rank: rank.get(identity(item)), place: place.get(identity(item)) }))
  const named = ranked.filter((entry) => entry.rank !== undefined).toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
  const others = ranked.filter((entry) => entry.rank === undefined).toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
  const arranged: Json[] = []
  let next = 0
  for (const entry of named) {
    for (let other = others[next]; other !== undefined && stoodBefore(other, entry); other = others[++next]) {
      arranged.push(other.item)
    }
    arranged.push(entry.item)
  }
  return [...arranged, ...others.slice(next).map((entry) => entry.item)]
}

function stoodBefore(left: { place: number | undefined }, right: { place: number | undefined }): boolean {
  return left.place !== undefined && right.place !== undefined && left.place < right.place
}

function rankOf(identities: readonly string[]): Map<string, number> {
  const ranks = new Map<string, number>()
  identities.forEach((identity, index) => {
    if (!ranks.has(identity)) ranks.set(identity, index)
  })
  return ranks
}

/** What is patched must appear in the order list, and in the same order. */
function requireSameOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (patch.length === 0 || order.length === 0) return
  const identity = (item: Json) => (mergeKey === undefined ? item : mergeKeyOf(item, mergeKey))
  const patched = patch.filter(
    (item) => mergeKey === undefined || !(isJsonObject(item) && Object.hasOwn(item, patchDirective)),
  )
  let position = 0
  for (const item of patched) {
    while (position < order.length && !isSameJson(identity(item), identity(order[position] as Json))) position++
    if (position === order.length) {
      throw unclassifiedFailure(
        `The order in patch list:\n${goValueText(patch)}\n doesn't match ${setElementOrderPrefix} list:\n${goValueText(order)}\n`,
      )
    }
    position++
  }
}

function itemKind(items: readonly Json[]): 'map' | 'scalar' | undefined {
  const kinds = new Set(items.map((item) => (Array.isArray(item) ? 'list' : isJsonObject(item) ? 'map' : typeof item)))
  if (kinds.has('list')) throw rejectedPatch()
  if (kinds.size > 1) throw unclassifiedFailure(`list element types are not identical: ${goValueText([items])}`)
  const [kind] = kinds
  return kind === undefined ? undefined : kind === 'map' ? 'map' : 'scalar'
}
