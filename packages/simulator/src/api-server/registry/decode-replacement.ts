import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { invalidObject } from '../schema/field-error.ts'
import { decodeObject } from './decode-object.ts'
import type { WriteRequest } from './registry.ts'

/** Reads what an object is to become. Another kind is found out at once for built-in kinds, and for custom ones only where it is asked for. */
export function decodeReplacement(request: WriteRequest, sent: KubeObject, previous?: KubeObject): KubeObject {
  const { definition } = request
  if (definition.origin !== 'custom') return decodeObject(request, sent, previous)
  const { kind } = sent
  const decoded = withoutEmptyOwners(decodeObject(request, { ...sent, kind: definition.type.kind }, previous))
  return kind === decoded.kind ? decoded : { ...decoded, kind }
}

/** Of custom resources the metadata is read and written anew, which loses empty lists: it asks to forget nothing. */
function withoutEmptyOwners(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  return managedFields?.length === 0 ? { ...object, metadata } : object
}

/** @throws ApiError 422 in the name of the kind that was sent */
export function requireCustomKind({ definition }: WriteRequest, sent: KubeObject): KubeObject {
  const { group, kind } = definition.type
  if (sent.kind === kind) return sent
  throw invalidObject({ group, kind: sent.kind, name: sent.metadata.name }, [
    { kind: 'Invalid', field: 'kind', value: sent.kind, detail: `must be ${kind}` },
  ])
}
