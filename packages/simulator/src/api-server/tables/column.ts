import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { timeSince } from './human-duration.ts'

export type Cell = string | number | boolean | null

/** A column of a kind whose objects look like T, which the registry guarantees by kind. */
export function column<T extends KubeObject>(
  name: string,
  cell: (object: T, nowMs: number) => Cell,
  shape: Pick<TableColumn, 'type' | 'format' | 'priority'> = { type: 'string' },
): TableColumn {
  return { name, ...shape, cell: (object, nowMs) => cell(object as T, nowMs) }
}

export function wideColumn<T extends KubeObject>(name: string, cell: (object: T, nowMs: number) => Cell): TableColumn {
  return column(name, cell, { type: 'string', priority: 1 })
}

export function integerColumn<T extends KubeObject>(
  name: string,
  cell: (object: T) => number | undefined,
): TableColumn {
  return column<T>(name, (object) => cell(object) ?? 0, { type: 'integer' })
}

export function booleanColumn<T extends KubeObject>(name: string, cell: (object: T) => boolean): TableColumn {
  return column(name, cell, { type: 'boolean' })
}

export const nameColumn: TableColumn = column('Name', (object) => object.metadata.name, {
  type: 'string',
  format: 'name',
})

export const ageColumn: TableColumn = column('Age', (object, nowMs) =>
  timeSince(object.metadata.creationTimestamp, nowMs),
)

/** What kinds without columns of their own show. */
export const createdAtColumn: TableColumn = column(
  'Created At',
  (object) => object.metadata.creationTimestamp ?? null,
  {
    type: 'date',
  },
)
