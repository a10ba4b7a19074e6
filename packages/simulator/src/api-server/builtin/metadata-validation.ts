import type { KubeObject, ObjectMeta, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { FieldError } from '../schema/field-error.ts'
import { labelsErrors } from './labels-validation.ts'
import { finalizerOwnerErrors, nameErrors, qualifiedNameErrors } from './name-rules.ts'

export interface MetadataRules {
  readonly namespaced: boolean
  /** How names of the kind are formed: a DNS subdomain unless said otherwise; `path` for RBAC, where almost all goes. */
  readonly nameRule?: 'subdomain' | 'label' | 'path'
  /** Finalizers without a domain are only those of Kubernetes itself. */
  readonly hasQualifiedFinalizers?: boolean
}

const annotationBytes = 256 * 1024

/** What holds for the metadata of every object, whatever its kind. */
export function validateMetadata(
  next: KubeObject,
  previous: KubeObject | undefined,
  rules: MetadataRules,
): FieldError[] {
  const meta = next.metadata
  const before = previous?.metadata
  if (meta === before) return []
  const errors: FieldError[] = []
  if (before === undefined) errors.push(...identityErrors(meta, rules))
  else errors.push(...changedIdentity(meta, before))
  if (meta.labels !== before?.labels) errors.push(...labelsErrors(meta.labels, 'metadata.labels'))
  if (meta.annotations !== before?.annotations) errors.push(...annotationErrors(meta.annotations))
  if (meta.ownerReferences !== before?.ownerReferences) errors.push(...ownerErrors(meta.ownerReferences))
  if (meta.finalizers !== before?.finalizers) {
    errors.push(...finalizerErrors(meta.finalizers, before))
    if (rules.hasQualifiedFinalizers === true) errors.push(...unqualifiedFinalizers(meta.finalizers))
  }
  return errors
}

function identityErrors(meta: ObjectMeta, { namespaced, nameRule = 'subdomain' }: MetadataRules): FieldError[] {
  const errors: FieldError[] = []
  const { name, generateName, namespace } = meta
  if (generateName !== undefined && generateName !== '') {
    errors.push(
      ...nameErrors(generateName.replace(/-$/, 'a'), nameRule).map(invalid('metadata.generateName', generateName)),
    )
  }
  if (name === undefined || name === '') {
    errors.push({ kind: 'Required', field: 'metadata.name', detail: 'name or generateName is required' })
  } else errors.push(...nameErrors(name, nameRule).map(invalid('metadata.name', name)))
  if (namespaced) {
    if (namespace === undefined || namespace === '')
      errors.push({ kind: 'Required', field: 'metadata.namespace', detail: '' })
    else errors.push(...nameErrors(namespace, 'label').map(invalid('metadata.namespace', namespace)))
  } else if (namespace !== undefined && namespace !== '') {
    errors.push({ kind: 'Forbidden', field: 'metadata.namespace', detail: 'not allowed on this type' })
  }
  return errors
}

function invalid(field: string, value: unknown): (detail: string) => FieldError {
  return (detail) => ({ kind: 'Invalid', field, value, detail })
}

const keptFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

/** Fields that never change while the object lives. Absent is no change: the registry fills them in. */
function changedIdentity(meta: ObjectMeta, before: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  for (const field of keptFields) {
    const value = meta[field]
    if (value !== undefined && value !== before[field]) {
      errors.push({ kind: 'Invalid', field: `metadata.${field}`, value, detail: 'field is immutable' })
    }
  }
  if (meta.generation !== undefined && meta.generation < 0) {
    errors.push({
      kind: 'Invalid',
      field: 'metadata.generation',
      value: meta.generation,
      detail: 'must be greater than or equal to 0',
    })
  }
  return errors
}

function annotationErrors(annotations: ObjectMeta['annotations']): FieldError[] {
  const errors: FieldError[] = []
  let characters = 0
  for (const key in annotations) {
    characters += key.length + (annotations[key] as string).length
    errors.push(...qualifiedNameErrors(key.toLowerCase()).map(invalid('metadata.annotations', key)))
  }
  // Bytes are counted only when characters alone could not settle it: a character is three bytes at most.
  if (characters * 3 > annotationBytes && bytesOf(annotations) > annotationBytes) {
    errors.push({
      kind: 'TooLong',
      field: 'metadata.annotations',
      detail: `may not be more than ${annotationBytes} bytes`,
    })
  }
  return errors
}

function bytesOf(annotations: ObjectMeta['annotations']): number {
  let bytes = 0
  for (const key in annotations) bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] as string)
  return bytes
}

function ownerErrors(owners: readonly OwnerReference[] | undefined): FieldError[] {
  if (owners === undefined) return []
  const errors: FieldError[] = []
  const field = 'metadata.ownerReferences'
  let controller: string | undefined
  for (const owner of owners) {
    const empty = (name: keyof OwnerReference, detail: string) => {
      if (!owner[name]) errors.push({ kind: 'Invalid', field: `${field}.${name}`, value: '', detail })
    }
    empty('apiVersion', 'version must not be empty')
    empty('kind', 'must not be empty')
    empty('name', 'must not be empty')
    empty('uid', 'must not be empty')
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.push({ kind: 'Invalid', field, value: owner, detail: '/v1, Kind=Event is disallowed from being an owner' })
    }
    if (owner.controller !== true) continue
    const name = `${owner.kind}/${owner.name}`
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
      errors.push({ kind: 'Invalid', field, value: owners, detail })
    } else controller = name
  }
  return errors
}

function finalizerErrors(finalizers: readonly string[] = [], before: ObjectMeta | undefined): FieldError[] {
  const errors: FieldError[] = []
  const field = 'metadata.finalizers'
  for (const finalizer of finalizers) errors.push(...qualifiedNameErrors(finalizer).map(invalid(field, finalizer)))
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set'
    errors.push({ kind: 'Invalid', field, value: finalizers, detail })
  }
  if (before?.deletionTimestamp !== undefined) {
    const added = finalizers.filter((finalizer) => !before.finalizers?.includes(finalizer))
    if (added.length > 0) {
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`
      errors.push({ kind: 'Forbidden', field, detail })
    }
  }
  return errors
}

function unqualifiedFinalizers(finalizers: readonly string[] = []): FieldError[] {
  return finalizers.flatMap((finalizer, index) =>
    finalizerOwnerErrors(finalizer).map(invalid(`metadata.finalizers[${index}]`, finalizer)),
  )
}

/** As Go prints a slice of strings with %#v. */
function goStrings(values: readonly string[]): string {
  return `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`
}
