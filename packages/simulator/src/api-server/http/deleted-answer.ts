import type { StatusDetails, StatusObject } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceDefinition } from '../resource-definition.ts'

/** Kinds whose delete is answered with the object itself even when it is gone. */
const answeredWithObject = new Set([
  '/Namespace',
  '/PersistentVolume',
  '/PersistentVolumeClaim',
  '/Pod',
  '/PodTemplate',
  '/ResourceQuota',
  '/Service',
  '/ServiceAccount',
  'storage.k8s.io/CSIDriver',
  'storage.k8s.io/CSINode',
  'storage.k8s.io/StorageClass',
  'storage.k8s.io/VolumeAttachment',
])

/** The object while it is still terminating, else a success that names what is gone. */
export function deletedAnswer(
  { type }: ResourceDefinition,
  last: KubeObject,
  { waits, isGone }: { readonly waits: boolean; readonly isGone: boolean },
): { code: number; object: KubeObject | SuccessStatus } {
  if (!isGone) return { code: waits ? 202 : 200, object: last }
  if (answeredWithObject.has(`${type.group}/${type.kind}`)) return { code: 200, object: last }
  const { name, uid } = last.metadata
  const details = {
    name,
    ...(type.group === '' ? {} : { group: type.group }),
    kind: type.plural,
    ...(uid === undefined ? {} : { uid }),
  }
  return { code: 200, object: successStatus(details) }
}

/** Unlike a refusal, it does not repeat its code. */
export type SuccessStatus = Omit<StatusObject, 'code'>

function successStatus(details: StatusDetails): SuccessStatus {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
}
