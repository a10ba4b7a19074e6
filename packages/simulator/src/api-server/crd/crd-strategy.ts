import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { nameErrorsOf, versionErrors } from './crd-validation.ts'
import type { CustomResourceDefinition } from './custom-resource-definition.ts'

type Spec = CustomResourceDefinition['spec']

export const crdStrategy: ResourceStrategy = {
  prepare(next: CustomResourceDefinition, previous: CustomResourceDefinition | undefined) {
    if (next.spec === undefined) return next
    const spec = next.spec === previous?.spec ? next.spec : completeSpec(next.spec)
    const storage = (spec.versions ?? []).find(({ storage: isStorage }) => isStorage)?.name
    const stored = next.status?.storedVersions ?? []
    const isKnown = storage === undefined || stored.includes(storage)
    if (spec === next.spec && isKnown) return next
    if (isKnown) return { ...next, spec }
    return { ...next, spec, status: { ...next.status, storedVersions: [...stored, storage] } }
  },

  validate(next: CustomResourceDefinition, previous: CustomResourceDefinition | undefined) {
    const { spec } = next
    if (spec === undefined) return [{ kind: 'Required', field: 'spec', detail: '' }]
    if (previous !== undefined && spec === previous.spec) return []
    const errors = [...nameErrorsOf(next), ...versionErrors(spec)]
    if (previous !== undefined) errors.push(...changeErrors(spec, previous))
    return errors
  },
}

function completeSpec(spec: Spec): Spec {
  if (spec?.names === undefined) return spec
  const { kind } = spec.names
  const names = { ...spec.names }
  if (!names.singular && kind) names.singular = kind.toLowerCase()
  if (!names.listKind && kind) names.listKind = `${kind}List`
  const conversion = spec.conversion ?? { strategy: 'None' }
  if (isSameJson(names, spec.names) && conversion === spec.conversion) return spec
  return { ...spec, names, conversion }
}

/** Once objects are stored under a definition, where and as what they are stored may not change. */
function changeErrors(spec: Spec, { spec: before, status }: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const keep = (field: string, next: unknown, previous: unknown) => {
    if (next !== previous) errors.push({ kind: 'Invalid', field, value: next, detail: 'field is immutable' })
  }
  keep('spec.group', spec.group, before.group)
  keep('spec.names.plural', spec.names.plural, before.names.plural)
  const isEstablished = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')
  if (isEstablished === true) {
    keep('spec.scope', spec.scope, before.scope)
    keep('spec.names.kind', spec.names.kind, before.names.kind)
  }
  for (const [index, version] of (status?.storedVersions ?? []).entries()) {
    if (spec.versions.some(({ name }) => name === version)) continue
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`
    errors.push({ kind: 'Invalid', field: `status.storedVersions[${index}]`, value: version, detail })
  }
  return errors
}
