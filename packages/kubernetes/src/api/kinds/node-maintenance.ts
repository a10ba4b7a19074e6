import type { KubeObject } from '../kube-object.ts'
import type { ResourceType } from '../resource-type.ts'

/** medik8s: a node that its Node Maintenance Operator keeps empty for as long as the object stands. */
export interface NodeMaintenance extends KubeObject {
  readonly spec?: { readonly nodeName?: string; readonly reason?: string }
  readonly status?: {
    readonly phase?: 'Running' | 'Succeeded' | 'Failed'
    readonly lastError?: string
    readonly drainProgress?: number
    readonly errorOnLeaseCount?: number
    readonly pendingPods?: readonly string[]
    readonly evictionPods?: number
  }
}

export const nodeMaintenances: ResourceType<NodeMaintenance> = {
  group: 'nodemaintenance.medik8s.io',
  version: 'v1beta1',
  plural: 'nodemaintenances',
  kind: 'NodeMaintenance',
  namespaced: false,
}

/** The taint of a node in maintenance; `spec.unschedulable` is set besides. */
export const maintenanceTaint = 'medik8s.io/drain'
/** On a node, with the value `true`: no NodeHealthCheck remediates it. */
export const excludedFromRemediation = 'remediation.medik8s.io/exclude-from-remediation'
