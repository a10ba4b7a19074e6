import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { ownField, setOwnField } from './own-field.ts'
import { rejectedPatch } from './patch-failure.ts'

const maximumOperations = 10_000
/** Copies of copies grow exponentially; this bounds what one patch may add that way. */
const maximumCopiedCharacters = 3 * 1024 * 1024
const operationNames = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])

interface PatchOperation {
  readonly op: string
  readonly path: string
  readonly from: string | undefined
  readonly value: Json
}

interface Draft {
  document: Json
  /** Containers made for this patch; only these may be written to. */
  readonly fresh: WeakSet<object>
  copiedCharacters: number
}

/**
 * JSON patch, RFC 6902, all or nothing.
 * Guarantees: neither argument changes; parts no operation touches keep their reference; no path reaches a prototype.
 * Fails closed: 400 when the document is not a list of operations, 413 when it has too many, 422 when one does not apply.
 */
export function applyJsonPatch(object: JsonObject, operations: readonly Json[]): JsonObject {
  const parsed = parseOperations(operations)
  const draft: Draft = { document: object, fresh: new WeakSet(), copiedCharacters: 0 }
  for (const operation of parsed) applyOperation(draft, operation)
  if (!isJsonObject(draft.document)) throw rejectedPatch()
  return draft.document
}

function parseOperations(operations: readonly Json[]): PatchOperation[] {
  if (!Array.isArray(operations)) throw malformed(operations, '[]handlers.jsonPatchOp')
  if (operations.length > maximumOperations) {
    throw new ApiError(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maximumOperations}, got ${operations.length}`,
    )
  }
  return (operations as readonly Json[]).map(parseOperation)
}

function parseOperation(operation: Json): PatchOperation {
  if (!isJsonObject(operation)) throw malformed(operation, 'handlers.jsonPatchOp')
  const { op, path, from, value } = operation
  for (const [name, text] of Object.entries({ op, path, from })) {
    if (text !== undefined && text !== null && typeof text !== 'string') {
      throw malformed(text, 'string', `Go struct field jsonPatchOp.${name}`)
    }
  }
  if (typeof op !== 'string' || !operationNames.has(op) || typeof path !== 'string') throw rejectedPatch()
  return { op, path, from: typeof from === 'string' ? from : undefined, value: value ?? null }
}

function malformed(value: unknown, wanted: string, place = 'Go value'): ApiError {
  const found = Array.isArray(value)
    ? 'array'
    : value === null
      ? 'null'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value
  return new ApiError(
    'BadRequest',
    `error decoding patch: json: cannot unmarshal ${found} into ${place} of type ${wanted}`,
  )
}

/** A move is a removal and an addition, a copy is an addition of a value of its own. */
function applyOperation(draft: Draft, { op, path, from, value }: PatchOperation): void {
  if (op === 'move') {
    const moved = existing(draft.document, from)
    edit(draft, { op: 'remove', path: from ?? '' })
    edit(draft, { op: 'add', path, value: moved })
  } else if (op === 'copy') {
    const copied = copiedFrom(draft.document, from)
    draft.copiedCharacters += JSON.stringify(copied).length
    if (draft.copiedCharacters > maximumCopiedCharacters) throw rejectedPatch()
    edit(draft, { op: 'add', path, value: structuredClone(copied) })
  } else if (op === 'test') {
    // The real server takes an absent field for null here; clients use that to say "only if it is not set".
    const segments = pointerSegments(path)
    const parent = valueAt(draft.document, segments.slice(0, -1))
    const found = valueAt(draft.document, segments) ?? (isJsonObject(parent) ? null : undefined)
    if (found === undefined || !isSameJson(found, value)) throw rejectedPatch()
  } else if (op === 'remove') {
    existing(draft.document, path)
    edit(draft, { op, path })
  } else {
    edit(draft, { op: op === 'replace' ? replacing(draft.document, path) : 'add', path, value })
  }
}

type Edit =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

function edit(draft: Draft, change: Edit): void {
  const segments = pointerSegments(change.path)
  const last = segments.at(-1)
  if (last === undefined) {
    draft.document = change.op === 'remove' ? null : change.value
    return
  }
  draft.document = copyAlong(draft, segments)
  const parent = valueAt(draft.document, segments.slice(0, -1))
  if (Array.isArray(parent)) editItem(parent as Json[], last, change)
  else if (!isJsonObject(parent)) throw rejectedPatch()
  else if (change.op === 'remove') Reflect.deleteProperty(parent, last)
  else setOwnField(parent as Record<string, Json>, last, change.value)
}

function editItem(items: Json[], segment: string, change: Edit): void {
  const isAdded = change.op === 'add'
  const at = isAdded && segment === '-' ? items.length : isIndex(segment) ? Number(segment) : Number.NaN
  if (!(at < items.length || (isAdded && at === items.length))) throw rejectedPatch()
  if (change.op === 'remove') items.splice(at, 1)
  else items.splice(at, isAdded ? 0 : 1, change.value)
}

/** Copies every container that an edit at this pointer writes to or passes through. */
function copyAlong(draft: Draft, segments: readonly string[]): Json {
  const root = copyContainer(draft, draft.document)
  let parent = root
  for (const segment of segments.slice(0, -1)) {
    const child = fieldOrItem(parent, segment)
    if (typeof child !== 'object' || child === null) break
    const copy = copyContainer(draft, child)
    if (Array.isArray(parent)) (parent as Json[])[Number(segment)] = copy
    else setOwnField(parent as Record<string, Json>, segment, copy)
    parent = copy
  }
  return root
}

function copyContainer(draft: Draft, value: Json): Json {
  if (typeof value !== 'object' || value === null || draft.fresh.has(value)) return value
  const copy: Json = Array.isArray(value) ? [...value] : { ...(value as JsonObject) }
  draft.fresh.add(copy)
  return copy
}

/** The real server also replaces a field of an object that is not there, but no item of a list. */
function replacing(document: Json, pointer: string): 'add' | 'replace' {
  const segments = pointerSegments(pointer)
  if (segments.length > 0 && isJsonObject(valueAt(document, segments.slice(0, -1)))) return 'add'
  existing(document, pointer)
  return 'replace'
}

/** The real server copies a field of an object that is not there as null. */
function copiedFrom(document: Json, pointer: string | undefined): Json {
  const segments = pointer === undefined ? [] : pointerSegments(pointer)
  const isAbsentField = segments.length > 0 && isJsonObject(valueAt(document, segments.slice(0, -1)))
  return isAbsentField ? (valueAt(document, segments) ?? null) : existing(document, pointer)
}

function existing(document: Json, pointer: string | undefined): Json {
  const value = pointer === undefined ? undefined : valueAt(document, pointerSegments(pointer))
  if (value === undefined) throw rejectedPatch()
  return value
}

function valueAt(document: Json, segments: readonly string[]): Json | undefined {
  let value: Json | undefined = document
  for (const segment of segments) {
    if (value === undefined) return undefined
    value = fieldOrItem(value, segment)
  }
  return value
}

function fieldOrItem(container: Json, segment: string): Json | undefined {
  if (Array.isArray(container)) return isIndex(segment) ? container[Number(segment)] : undefined
  return isJsonObject(container) ? ownField(container, segment) : undefined
}

function isIndex(segment: string): boolean {
  return /^(0|[1-9]\d*)$/.test(segment)
}

function pointerSegments(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) throw rejectedPatch()
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}
