import type { StatusObject } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeList, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { dump } from 'js-yaml'
import type { ResourceDefinition } from '../resource-definition.ts'
import { columnsOf } from '../tables/columns.ts'
import type { Form } from './accept.ts'
import { jsonText } from './json-text.ts'
import { partialMetadataText, type TableShape, tableText } from './table-text.ts'

/** What a server answers with: a thing, a Status, or the answer to a question. */
type Written = KubeObject | Omit<StatusObject, 'code'> | JsonObject

/** How answers about one resource are written for one caller. */
export interface Encoding {
  readonly form: Form
  readonly definition: ResourceDefinition
  readonly includeObject: TableShape['includeObject']
  readonly nowMs: number
}

export function encodeObject(encoding: Encoding, object: Written): string {
  const { form, definition } = encoding
  if (form.as === 'Table' && isThing(object)) {
    const columns = object.kind === definition.type.kind ? definition.columns : columnsOf(groupKindOf(object))
    const { resourceVersion } = object.metadata
    return tableText({ ...encoding, columns, version: form.version, metadata: { resourceVersion } }, [object])
  }
  if (form.as === 'PartialObjectMetadata' && isThing(object)) return partialMetadataText(object, form.version)
  return jsonText(object)
}

export function encodeList(encoding: Encoding, list: KubeList): string {
  const { form, definition } = encoding
  const metadata = {
    resourceVersion: list.resourceVersion,
    ...(list.continueToken === undefined ? {} : { continue: list.continueToken }),
    ...(list.remainingItemCount === undefined ? {} : { remainingItemCount: list.remainingItemCount }),
  }
  if (form.as === 'Table') {
    return tableText({ ...encoding, columns: definition.columns, version: form.version, metadata }, list.items)
  }
  if (form.as === 'PartialObjectMetadataList') {
    const items = list.items.map((item) => partialMetadataText(item, form.version))
    return listText('PartialObjectMetadataList', `meta.k8s.io/${form.version}`, metadata, items)
  }
  const itemText = definition.origin === 'custom' ? jsonText : untypedText
  return listText(definition.listKind, apiVersionOf(definition.type), metadata, list.items.map(itemText))
}

/** In a list of a built-in kind the list alone says what its items are. */
function untypedText(object: KubeObject): string {
  const text = jsonText(object)
  const head = `{"apiVersion":${JSON.stringify(object.apiVersion)},"kind":${JSON.stringify(object.kind)},`
  if (text.startsWith(head)) return `{${text.slice(head.length)}`
  const { apiVersion: _version, kind: _kind, ...rest } = object
  return JSON.stringify(rest)
}

function listText(kind: string, apiVersion: string, metadata: object, items: readonly string[]): string {
  const head = JSON.stringify({ kind, apiVersion, metadata })
  return `${head.slice(0, -1)},"items":[${items.join(',')}]}`
}

/** Answers are written as JSON; what the caller wants otherwise is made of that. */
export function finishText(text: string, form: Form, pretty: boolean): { body: string; contentType: string } {
  if (form.as === 'object' && form.yaml === true) {
    return { body: dump(JSON.parse(text), { lineWidth: -1 }), contentType: 'application/yaml' }
  }
  return { body: pretty ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text, contentType: 'application/json' }
}

function isThing(object: Written): object is KubeObject {
  return object.kind !== 'Status' && typeof object.metadata === 'object'
}

function groupKindOf({ apiVersion, kind }: KubeObject): { group: string; kind: string } {
  return { group: apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : '', kind }
}
