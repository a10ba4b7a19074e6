import { ApiError, type StatusCause } from '@cofferdam/kubernetes/api/api-error.ts'
import { pathsOf } from './field-set.ts'
import type { FieldSet } from './field-set-builder.ts'
import { identityOf, type Ownership } from './managed-fields.ts'

/** Fields of another manager that an apply would change. */
export interface FieldConflict {
  readonly owner: Ownership
  readonly fields: FieldSet
}

/** 409, with one cause per field, worded as the real server words it. */
export function applyConflict(conflicts: readonly FieldConflict[]): ApiError {
  const sorted = conflicts.toSorted((left, right) => (identityOf(left.owner) < identityOf(right.owner) ? -1 : 1))
  const causes: StatusCause[] = []
  const groups: string[] = []
  for (const { owner, fields } of sorted) {
    const paths = [...pathsOf(fields)]
    const name = nameOf(owner)
    for (const field of paths) {
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })
    }
    groups.push([`conflicts with ${name}:`, ...paths.map((path) => `- ${path}`)].join('\n'))
  }
  const [only] = causes
  const summary =
    causes.length === 1
      ? `1 conflict: ${only?.message}: ${only?.field}`
      : `${causes.length} conflicts: ${groups.join('\n')}`
  return new ApiError('Conflict', `Apply failed with ${summary}`, { details: { causes } })
}

function nameOf({ manager, operation, apiVersion, subresource }: Ownership): string {
  const within = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`
  return `${JSON.stringify(manager)}${within}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}
