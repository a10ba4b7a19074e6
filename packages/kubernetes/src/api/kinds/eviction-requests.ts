import type { Condition, KubeObject } from '../kube-object.ts'
import type { ResourceType } from '../resource-type.ts'

export interface EvictionTarget {
  readonly pod?: { readonly name: string; readonly uid: string }
}

/** What a requester wants of one pod (KEP-4563). Kubernetes makes an Eviction of all requests for the same pod. */
export interface EvictionRequest extends KubeObject {
  readonly spec?: {
    readonly target?: EvictionTarget
    /** With a domain, such as `acme.io/foo`. */
    readonly requesterName?: string
    readonly intent?: 'Eviction' | 'Withdrawn'
  }
  /** Conditions: `Failed` and `TargetEvicted`. */
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number }
}

/** How far the responders of one pod have come. Not the body of that name by which the eviction API is called. */
export interface LifecycleEviction extends KubeObject {
  readonly spec?: { readonly target?: EvictionTarget }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly observedGeneration?: number
    readonly requesters?: readonly { readonly name: string; readonly intent: 'Eviction' | 'Withdrawn' }[]
    /** In their order; one of them is active at a time. */
    readonly targetResponders?: readonly TargetResponder[]
    readonly responders?: readonly ResponderStatus[]
  }
}

export interface TargetResponder {
  readonly name: string
  readonly state: 'Inactive' | 'Active' | 'Interrupted' | 'Canceled' | 'Completed'
}

/** What a responder says of itself; `startTime` is set for it. */
export interface ResponderStatus {
  readonly name: string
  readonly startTime?: string
  readonly heartbeatTime?: string
  readonly expectedCompletionTime?: string
  readonly completionTime?: string
  readonly message?: string
}

const lifecycle = { group: 'lifecycle.k8s.io', version: 'v1alpha1', namespaced: true } as const

export const evictionRequests: ResourceType<EvictionRequest> = {
  ...lifecycle,
  plural: 'evictionrequests',
  kind: 'EvictionRequest',
}

export const lifecycleEvictions: ResourceType<LifecycleEviction> = {
  ...lifecycle,
  plural: 'evictions',
  kind: 'Eviction',
}

/** The responder of Kubernetes itself, behind those that a pod names: it calls the eviction API. */
export const imperativeEvictor = 'imperative-eviction.k8s.io/evictor'
