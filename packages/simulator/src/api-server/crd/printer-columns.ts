import type { TableColumn } from '../resource-definition.ts'
import { ageColumn, nameColumn } from '../tables/column.ts'
import { timeSince } from '../tables/human-duration.ts'
import type { PrinterColumn } from './custom-resource-definition.ts'
import { compileJsonPath, type JsonPath } from './json-path.ts'

type Cell = string | number | boolean | null

/** The columns of `kubectl get` that a custom resource declares, after its name; its age when it declares none. */
export function printerColumns(declared: readonly PrinterColumn[] = []): readonly TableColumn[] {
  if (declared.length === 0) return [nameColumn, ageColumn]
  return [nameColumn, ...declared.map(tableColumn)]
}

function tableColumn(declared: PrinterColumn): TableColumn {
  const { name, type, format, description, priority } = declared
  const find = readablePath(declared.jsonPath)
  return {
    name,
    type,
    ...(format === undefined ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    ...(priority === undefined ? {} : { priority }),
    cell: (object, nowMs) => {
      const [value] = find(object)
      return value === undefined || value === null ? null : cellOf(value, type, nowMs)
    },
  }
}

/** A definition that was accepted with a path nobody can read shows an empty column; it does not take the list down. */
function readablePath(text: string): JsonPath {
  try {
    return compileJsonPath(text)
  } catch {
    return () => []
  }
}

function cellOf(value: unknown, type: PrinterColumn['type'], nowMs: number): Cell {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      if (typeof value !== 'string') return null
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : timeSince(value, nowMs)
  }
}
