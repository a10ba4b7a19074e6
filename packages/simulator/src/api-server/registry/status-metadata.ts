import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceDefinition } from '../resource-definition.ts'

const allButName: readonly (keyof ObjectMeta)[] = [
  'annotations',
  'deletionTimestamp',
  'finalizers',
  'labels',
  'ownerReferences',
]

const closedFields: Readonly<Record<string, readonly (keyof ObjectMeta)[]>> = {
  'admissionregistration.k8s.io/validatingadmissionpolicies': allButName,
  'apps/deployments': ['labels'],
  pods: ['deletionTimestamp', 'ownerReferences'],
  'storage.k8s.io/volumeattachments': allButName,
}

/** Metadata that a write to the status of a built-in kind puts back, and who applies it there therefore does not own. */
export function closedMetadata({ storageKey }: ResourceDefinition): readonly (keyof ObjectMeta)[] {
  return closedFields[storageKey] ?? []
}
