import type { PodTemplateSpec } from './core.ts'
import type { IntOrString } from './int-or-string.ts'
import type { Condition, KubeObject } from './kube-object.ts'
import type { LabelSelector } from './label-selector.ts'

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number
    readonly selector: LabelSelector
    readonly template: PodTemplateSpec
    readonly paused?: boolean
    readonly minReadySeconds?: number
    readonly progressDeadlineSeconds?: number
    readonly revisionHistoryLimit?: number
    readonly strategy?: {
      readonly type?: 'RollingUpdate' | 'Recreate'
      readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString }
    }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly unavailableReplicas?: number
    readonly conditions?: readonly Condition[]
  }
}

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number
    readonly minReadySeconds?: number
    readonly selector: LabelSelector
    readonly template?: PodTemplateSpec
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas: number
    readonly fullyLabeledReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
  }
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number
    readonly serviceName?: string
    readonly selector: LabelSelector
    readonly template: PodTemplateSpec
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel'
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete'
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrString }
    }
    readonly minReadySeconds?: number
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas: number
    readonly readyReplicas?: number
    readonly currentReplicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly currentRevision?: string
    readonly updateRevision?: string
  }
}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly selector: LabelSelector
    readonly template: PodTemplateSpec
    readonly minReadySeconds?: number
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete'
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrString; readonly maxSurge?: IntOrString }
    }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly currentNumberScheduled: number
    readonly desiredNumberScheduled: number
    readonly numberMisscheduled: number
    readonly numberReady: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
    readonly numberUnavailable?: number
  }
}

export interface Job extends KubeObject {
  readonly spec: {
    readonly parallelism?: number
    readonly completions?: number
    readonly backoffLimit?: number
    readonly selector?: LabelSelector
    readonly template: PodTemplateSpec
    readonly suspend?: boolean
    readonly ttlSecondsAfterFinished?: number
  }
  readonly status?: {
    readonly active?: number
    readonly ready?: number
    readonly succeeded?: number
    readonly failed?: number
    readonly startTime?: string
    readonly completionTime?: string
    readonly conditions?: readonly Condition[]
  }
}

/** `autoscaling/v1` Scale, the face of the scale subresource. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas: number; readonly selector?: string }
}
