import { fieldText, parseFieldSelector } from '@cofferdam/kubernetes/api/field-selector.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected, parseLabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { badRequest } from './api-errors.ts'
import { asServed } from './served-version.ts'

export interface SelectionQuery {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** Which objects of one resource a reader wants. */
export interface Selection {
  /** What the keys of all of them begin with: `namespace/`, or nothing. */
  readonly prefix: string
  /** False when every object under the prefix is wanted. */
  readonly isSelective: boolean
  /** A field and the value it must have, for an index to start from. */
  readonly indexed: { readonly field: string; readonly value: string } | undefined
  /** Whether an object under the prefix is wanted. */
  readonly matches: (object: KubeObject) => boolean
}

const everything = () => true

/** @throws ApiError 400 for selectors that cannot be read, or name fields that nobody can select by */
export function parseSelection(definition: ResourceDefinition, query: SelectionQuery): Selection {
  const labels = query.labelSelector ? readSelector(() => parseLabelSelector(query.labelSelector as string)) : undefined
  const fields = query.fieldSelector ? readSelector(() => parseFieldSelector(query.fieldSelector as string)) : []
  for (const { field } of fields) {
    if (field !== 'metadata.name' && field !== 'metadata.namespace' && !definition.selectableFields.includes(field)) {
      throw badRequest(
        definition.origin === 'builtin' && definition.selectableFields.length === 0
          ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
          : `field label not supported: ${field}`,
      )
    }
  }
  const named = definition.type.namespaced && query.namespace ? query.namespace : undefined
  const prefix = named === undefined ? '' : `${named}/`
  const hasLabels = labels !== undefined && (labels.matchExpressions ?? []).length > 0
  if (!hasLabels && fields.length === 0) return { prefix, isSelective: false, indexed: undefined, matches: everything }
  const isStoredAsServed = definition.storageKey !== 'events' || definition.type.group === ''
  const readers = definition.fieldReaders ?? {}
  const indexed = isStoredAsServed
    ? fields.find(({ field, operator, value }) => operator === '=' && value !== '' && readers[field] === undefined)
    : undefined
  const matches = (object: KubeObject): boolean => {
    if (hasLabels && !isSelected(labels, object.metadata.labels)) return false
    const shown = isStoredAsServed || fields.length === 0 ? object : asServed(definition, object)
    return fields.every(({ field, operator, value }) => {
      const text = readers[field]?.(shown) ?? fieldText(shown, field)
      return (text === value) === (operator === '=')
    })
  }
  return { prefix, isSelective: true, indexed, matches }
}

/** The one name that a field selector leaves; undefined also where it cannot be read. */
export function selectedName(fieldSelector: string): string | undefined {
  try {
    return parseFieldSelector(fieldSelector).find(
      ({ field, operator }) => field === 'metadata.name' && operator === '=',
    )?.value
  } catch {
    return undefined
  }
}

function readSelector<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw badRequest(error.message)
    throw error
  }
}
