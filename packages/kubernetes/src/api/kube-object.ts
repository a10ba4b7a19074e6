import type { JsonObject } from './json.ts'

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: JsonObject
  readonly subresource?: string
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly generateName?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

/** Any object of the Kubernetes API. Objects are values: nobody changes one in place, everybody may share it. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

export interface KubeList<T extends KubeObject = KubeObject> {
  readonly items: readonly T[]
  /** The version of the whole collection; a watch starts here. */
  readonly resourceVersion: string
  /** Set when there are more pages. */
  readonly continueToken?: string
  readonly remainingItemCount?: number
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly lastHeartbeatTime?: string
  readonly observedGeneration?: number
}

/** The owner that manages this object, of which there is at most one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)
}

export function conditionOf(
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined {
  for (const condition of object.status?.conditions ?? []) if (condition.type === type) return condition
  return undefined
}
