import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { jsonText } from './json-text.ts'

/** The table that `kubectl get` asks for: cells are made by the server, so that it can show kinds it has never met. */
export interface TableShape {
  readonly columns: readonly TableColumn[]
  readonly version: string
  readonly includeObject: 'None' | 'Metadata' | 'Object'
  readonly nowMs: number
  readonly metadata: object
  /** In a watch only the first table carries them. */
  readonly withoutHeaders?: boolean
}

export function tableText(shape: TableShape, objects: readonly KubeObject[]): string {
  return wrapped(
    shape,
    objects.map((object) => rowText(shape, object)),
  )
}

/** A table that says how far a watch has come and shows nothing. */
export function bookmarkTableText(shape: TableShape, bookmark: { readonly metadata: object }): string {
  const cells = JSON.stringify(shape.columns.map(() => null))
  return wrapped(shape, [
    `{"cells":${cells},"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${shape.version}","metadata":${JSON.stringify(bookmark.metadata)}}}`,
  ])
}

function wrapped(shape: TableShape, rows: readonly string[]): string {
  const columnDefinitions = shape.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format: format ?? '',
    description: description ?? '',
    priority: priority ?? 0,
  }))
  const head = JSON.stringify({
    kind: 'Table',
    apiVersion: `meta.k8s.io/${shape.version}`,
    metadata: shape.metadata,
    columnDefinitions: shape.withoutHeaders === true ? [] : columnDefinitions,
  })
  return `${head.slice(0, -1)},"rows":[${rows.join(',')}]}`
}

function rowText({ columns, includeObject, nowMs, version }: TableShape, object: KubeObject): string {
  const cells = JSON.stringify(columns.map((column) => column.cell(object, nowMs)))
  if (includeObject === 'None') return `{"cells":${cells}}`
  const text = includeObject === 'Object' ? jsonText(object) : partialMetadataText(object, version)
  return `{"cells":${cells},"object":${text}}`
}

export function partialMetadataText({ metadata }: KubeObject, version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${jsonText(metadata)}}`
}
