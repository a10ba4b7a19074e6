import type { Condition, KubeObject } from '../kube-object.ts'
import type { ResourceType } from '../resource-type.ts'

/** Karpenter's kinds with only the fields that are read here. */
export interface NodeClaim extends KubeObject {
  readonly spec?: {
    /** How long pods have once the claim is deleted; afterwards they are deleted, whatever their budgets say. */
    readonly terminationGracePeriod?: string
    /** How old the claim gets; `Never` for no end. */
    readonly expireAfter?: string
  }
  readonly status?: {
    readonly nodeName?: string
    readonly providerID?: string
    /** When a pod last came or went. */
    readonly lastPodEventTime?: string
    readonly conditions?: readonly Condition[]
  }
}

export interface NodePool extends KubeObject {
  readonly spec?: {
    readonly disruption?: {
      readonly consolidationPolicy?: string
      /** `Never`: nodes are not taken for being empty. */
      readonly consolidateAfter?: string
      readonly budgets?: readonly NodePoolBudget[]
    }
  }
}

/** How many nodes of a pool may be taken at a time: a number or a percentage, for all reasons unless some are named. */
export interface NodePoolBudget {
  readonly nodes: string
  readonly reasons?: readonly string[]
}

const group = { group: 'karpenter.sh', version: 'v1', namespaced: false } as const

export const nodeClaims: ResourceType<NodeClaim> = { ...group, plural: 'nodeclaims', kind: 'NodeClaim' }

export const nodePools: ResourceType<NodePool> = { ...group, plural: 'nodepools', kind: 'NodePool' }

/** On nodes and claims: the pool that they belong to. */
export const nodePoolLabel = 'karpenter.sh/nodepool'

/** On a claim that is being deleted: until when all pods are gone, as Karpenter itself has reckoned. */
export const terminationTimeAnnotation = 'karpenter.sh/nodeclaim-termination-timestamp'
