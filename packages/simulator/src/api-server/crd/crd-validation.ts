import { labelErrors, serviceNameErrors, subdomainErrors } from '../builtin/name-rules.ts'
import type { FieldError } from '../schema/field-error.ts'
import { supportedValues } from '../schema/value-rules.ts'
import type { CustomResourceDefinition, CustomResourceVersion, PrinterColumn } from './custom-resource-definition.ts'
import { compileJsonPath } from './json-path.ts'
import { structuralSchemaErrors } from './structural-schema-rules.ts'

/** What a definition says its resource is called, and where it lives. */
export function nameErrorsOf({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  if (spec.names === undefined) {
    errors.push({ kind: 'Required', field: 'spec.names.plural', detail: '' })
    errors.push({ kind: 'Required', field: 'spec.names.kind', detail: '' })
  }
  const { group, scope } = spec
  const names = spec.names ?? ({} as CustomResourceDefinition['spec']['names'])
  const { plural, singular, kind, listKind } = names
  if (metadata.name !== `${plural}.${group}`) {
    const detail = `must be spec.names.plural+"."+spec.group`
    errors.push({ kind: 'Invalid', field: 'metadata.name', value: metadata.name, detail })
  }
  if (group) {
    errors.push(...joined('spec.group', group, subdomainErrors(group)))
    if (!group.includes('.')) {
      errors.push({
        kind: 'Invalid',
        field: 'spec.group',
        value: group,
        detail: 'should be a domain with at least one dot',
      })
    }
  }
  if (scope && scope !== 'Cluster' && scope !== 'Namespaced') {
    const detail = supportedValues(['Cluster', 'Namespaced'])
    errors.push({ kind: 'NotSupported', field: 'spec.scope', value: scope, detail })
  }
  if (plural) errors.push(...joined('spec.names.plural', plural, serviceNameErrors(plural)))
  if (singular) errors.push(...joined('spec.names.singular', singular, serviceNameErrors(singular)))
  const mixedCase = 'may have mixed case, but should otherwise match: '
  if (kind) errors.push(...joined('spec.names.kind', kind, serviceNameErrors(kind.toLowerCase()), mixedCase))
  if (listKind)
    errors.push(...joined('spec.names.listKind', listKind, serviceNameErrors(listKind.toLowerCase()), mixedCase))
  if (kind && kind === listKind) {
    const detail = 'kind and listKind may not be the same'
    errors.push({ kind: 'Invalid', field: 'spec.names.listKind', value: listKind, detail })
  }
  for (const list of ['shortNames', 'categories'] as const) {
    for (const [index, name] of (names[list] ?? []).entries()) {
      errors.push(...joined(`spec.names.${list}[${index}]`, name, serviceNameErrors(name)))
    }
  }
  return errors
}

function joined(field: string, value: string, details: readonly string[], before = ''): FieldError[] {
  return details.length === 0 ? [] : [{ kind: 'Invalid', field, value, detail: before + details.join(',') }]
}

export function versionErrors(spec: CustomResourceDefinition['spec']): FieldError[] {
  const versions = spec.versions ?? []
  const errors: FieldError[] = []
  const field = 'spec.versions'
  if (versions.length === 0) {
    errors.push({ kind: 'Required', field, detail: 'must have at least one version' })
  } else if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version'
    errors.push({ kind: 'Invalid', field, value: versions, detail })
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push({ kind: 'Invalid', field, value: versions, detail: 'must contain unique version names' })
  }
  for (const [index, version] of versions.entries()) errors.push(...oneVersionErrors(version, `${field}[${index}]`))
  if (spec.preserveUnknownFields === true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    errors.push({ kind: 'Invalid', field: 'spec.preserveUnknownFields', value: true, detail })
  }
  return errors
}

function oneVersionErrors(version: CustomResourceVersion, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (version.name) errors.push(...joined(`${field}.name`, version.name, labelErrors(version.name)))
  const schema = version.schema?.openAPIV3Schema
  if (schema === undefined) {
    errors.push({ kind: 'Required', field: `${field}.schema.openAPIV3Schema`, detail: 'schemas are required' })
  } else errors.push(...structuralSchemaErrors(schema, `${field}.schema.openAPIV3Schema`))
  errors.push(...scaleErrors(version, `${field}.subresources.scale`))
  for (const [index, column] of (version.additionalPrinterColumns ?? []).entries()) {
    errors.push(...columnErrors(column, `${field}.additionalPrinterColumns[${index}]`))
  }
  for (const [index, { jsonPath }] of (version.selectableFields ?? []).entries()) {
    if (/^\.metadata(\.|$)/.test(jsonPath)) {
      const detail = 'must not point to fields in metadata'
      errors.push({ kind: 'Invalid', field: `${field}.selectableFields[${index}].jsonPath`, value: jsonPath, detail })
    }
  }
  return errors
}

function scaleErrors({ subresources }: CustomResourceVersion, field: string): FieldError[] {
  const scale = subresources?.scale
  if (scale === undefined) return []
  const errors: FieldError[] = []
  const under = (name: 'specReplicasPath' | 'statusReplicasPath' | 'labelSelectorPath', roots: readonly string[]) => {
    const path = scale[name]
    if (path === undefined || path === '' || roots.some((root) => path.startsWith(`.${root}.`))) return
    const detail =
      roots.length === 1
        ? `should be a json path under .${roots[0]}`
        : 'should be a json path under either .spec or .status'
    errors.push({ kind: 'Invalid', field: `${field}.${name}`, value: path, detail })
  }
  under('specReplicasPath', ['spec'])
  under('statusReplicasPath', ['status'])
  under('labelSelectorPath', ['spec', 'status'])
  return errors
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']

function columnErrors({ type, jsonPath }: PrinterColumn, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (type && !columnTypes.includes(type)) {
    errors.push({
      kind: 'Invalid',
      field: `${field}.type`,
      value: type,
      detail: `must be one of ${columnTypes.join(',')}`,
    })
  }
  if (!jsonPath) return errors
  if (!jsonPath.startsWith('.')) {
    const detail = 'must be a simple json path starting with .'
    return [...errors, { kind: 'Invalid', field: `${field}.jsonPath`, value: jsonPath, detail }]
  }
  try {
    compileJsonPath(jsonPath)
  } catch (error) {
    const detail = `is an invalid path: ${(error as Error).message}`
    errors.push({ kind: 'Invalid', field: `${field}.jsonPath`, value: jsonPath, detail })
  }
  return errors
}
