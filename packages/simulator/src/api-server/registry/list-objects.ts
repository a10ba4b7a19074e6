import type { KubeList, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ListQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { type FieldError, invalidObject } from '../schema/field-error.ts'
import { afterPrefix, type Bucket } from '../store/bucket.ts'
import type { SortedTree } from '../store/sorted-tree.ts'
import { expired, tooLargeVersion } from './api-errors.ts'
import { continueText, readContinue } from './continue-token.ts'
import { readVersion } from './read-version.ts'
import { bucketOf, type Registry } from './registry.ts'
import { parseSelection, type Selection } from './selection.ts'
import { asServed } from './served-version.ts'

/** Below this an index costs more than it saves. */
const worthIndexing = 256

/** Serves a list, or one page of it; all pages of one list show the state of one revision. */
export function listObjects(registry: Registry, definition: ResourceDefinition, query: ListQuery): KubeList {
  requireValidQuery(query)
  const selection = parseSelection(definition, query)
  const bucket = bucketOf(registry, definition)
  const { version, start, objects } = listedState(registry, bucket, query)
  const limit = query.limit ?? 0
  if (objects === undefined && selection.indexed !== undefined && bucket.size >= worthIndexing) {
    const found = indexedObjects(bucket, selection)
    const fitsOnePage = limit === 0 || found.length <= limit
    if (fitsOnePage) return { items: shown(definition, found), resourceVersion: String(version) }
  }
  const page = readPage(objects ?? bucket, selection, { start: start ?? selection.prefix, limit })
  const list = { items: shown(definition, page.items), resourceVersion: String(version) }
  if (page.next === undefined) return list
  const snapshot = objects ?? bucket.snapshot()
  const remainingItemCount = selection.isSelective ? undefined : countFrom(snapshot, page.next, selection.prefix)
  return {
    ...list,
    continueToken: continueText({ version, start: page.next }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  }
}

interface ListedState {
  readonly version: number
  readonly start?: string
  /** Undefined for now. */
  readonly objects?: SortedTree<KubeObject>
}

function listedState({ store }: Registry, bucket: Bucket, query: ListQuery): ListedState {
  if (query.continueToken) {
    const { version, start } = readContinue(query.continueToken)
    const objects = bucket.at(version)
    if (objects === undefined) {
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
      )
    }
    return { version, start, objects }
  }
  const asked = readVersion(query.resourceVersion)
  if (asked > store.version) throw tooLargeVersion(asked, store.version)
  if (query.resourceVersionMatch !== 'Exact') return { version: store.version }
  const objects = bucket.at(asked)
  if (objects === undefined) throw expired('The resourceVersion for the provided list is too old.')
  return { version: asked, objects }
}

function indexedObjects(bucket: Bucket, { prefix, indexed, matches }: Selection): KubeObject[] {
  const { field, value } = indexed as NonNullable<Selection['indexed']>
  const namespace = prefix.slice(0, -1)
  return bucket
    .withField(field, value)
    .filter((object) => (prefix === '' || object.metadata.namespace === namespace) && matches(object))
}

interface Page {
  readonly items: readonly KubeObject[]
  /** Where the next page starts; undefined when this is the last. */
  readonly next?: string
}

function readPage(
  objects: Pick<SortedTree<KubeObject>, 'entries'>,
  { prefix, matches }: Selection,
  { start, limit }: { readonly start: string; readonly limit: number },
): Page {
  const items: KubeObject[] = []
  for (const [key, object] of objects.entries(start)) {
    if (!key.startsWith(prefix)) break
    if (!matches(object)) continue
    if (limit > 0 && items.length === limit) return { items, next: key }
    items.push(object)
  }
  return { items }
}

function countFrom(objects: SortedTree<KubeObject>, start: string, prefix: string): number {
  return objects.forRange(start, prefix === '' ? '\uffff' : afterPrefix(prefix), false)
}

function shown(definition: ResourceDefinition, objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.map((object) => asServed(definition, object))
}

function requireValidQuery({ resourceVersion, resourceVersionMatch: match, continueToken }: ListQuery): void {
  if (match === undefined) return
  const field = 'resourceVersionMatch'
  const errors: FieldError[] = []
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const detail = 'supported values: "Exact", "NotOlderThan", ""'
    errors.push({ kind: 'NotSupported', field, value: match, detail })
  }
  const forbid = (detail: string) => errors.push({ kind: 'Forbidden', field, detail })
  if (!resourceVersion) forbid('resourceVersionMatch is forbidden unless resourceVersion is provided')
  if (continueToken) forbid('resourceVersionMatch is forbidden when continue is provided')
  if (match === 'Exact' && resourceVersion === '0') {
    forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, errors)
}
