import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { UserInfo } from '../user-info.ts'

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly type: ResourceType
  readonly subresource?: string
  readonly key: ObjectKey
  /** The kind of `object`: for `pods/eviction` it is policy/v1 Eviction, not Pod. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly object?: KubeObject | JsonObject
  readonly oldObject?: KubeObject
  readonly options?: JsonObject
  readonly user: UserInfo
  readonly dryRun: boolean
}

export interface Admission {
  /** False while no webhook could match, so that the common path need not wait for a promise. */
  mayMatch(request: Pick<AdmissionRequest, 'operation' | 'type' | 'subresource'>): boolean
  /** Resolves with warnings; refuses by throwing an ApiError. */
  admit(request: AdmissionRequest): Promise<readonly string[]>
}
