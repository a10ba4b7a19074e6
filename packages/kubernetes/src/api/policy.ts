import type { IntOrString } from './int-or-string.ts'
import type { Condition, KubeObject } from './kube-object.ts'
import type { LabelSelector } from './label-selector.ts'

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly selector?: LabelSelector
    readonly minAvailable?: IntOrString
    readonly maxUnavailable?: IntOrString
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow'
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly disruptionsAllowed: number
    readonly currentHealthy: number
    readonly desiredHealthy: number
    readonly expectedPods: number
    /** Pods whose eviction was granted and that have not gone yet, with the time of the grant. */
    readonly disruptedPods?: Readonly<Record<string, string>>
    readonly conditions?: readonly Condition[]
  }
}
