import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import jsonPatch, { type Operation } from 'fast-json-patch'
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

/** A move is a removal and an addition, a copy is an addition of a shared value; the library sees only in-place edits. */
function applyOperation(draft: Draft, { op, path, from, value }: PatchOperation): void {
  if (op === 'move') {
    const moved = existing(draft.document, from)
    edit(draft, { op: 'remove', path: from ?? '' })
    edit(draft, { op: 'add', path, value: moved })
  } else if (op === 'copy') {
    const copied = existing(draft.document, from)
    draft.copiedCharacters += JSON.stringify(copied).length
    if (draft.copiedCharacters > maximumCopiedCharacters) throw rejectedPatch()
    edit(draft, { op: 'add', path, value: copied })
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

function edit(draft: Draft, operation: Operation): void {
  const segments = pointerSegments(operation.path)
  if (operation.op === 'add') requirePlace(draft.document, segments)
  draft.document = copyAlong(draft, segments)
  try {
    draft.document = jsonPatch.applyOperation(draft.document, operation, true, true, true).newDocument as Json
  } catch {
    throw rejectedPatch()
  }
}

/** The library reads an empty segment as index 0, which would put items where nobody asked for them. */
function requirePlace(document: Json, segments: readonly string[]): void {
  const parent = valueAt(document, segments.slice(0, -1))
  const last = segments.at(-1)
  if (last === undefined || isJsonObject(parent)) return
  if (!Array.isArray(parent) || !(last === '-' || isIndex(last))) throw rejectedPatch()
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
