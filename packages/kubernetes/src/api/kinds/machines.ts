import type { Condition, KubeObject } from '../kube-object.ts'
import type { LabelSelector } from '../label-selector.ts'
import type { ResourceType } from '../resource-type.ts'

/** A Machine of OpenShift or of Cluster API: of each only the fields that are read or written here, which both have. */
export interface Machine extends KubeObject {
  readonly spec?: {
    /** `aws:///zone/instance`; absent while it is being made. */
    readonly providerID?: string
    /** Cluster API. */
    readonly clusterName?: string
    /** OpenShift: while one is there the machine is drained or terminated by nobody. */
    readonly lifecycleHooks?: {
      readonly preDrain?: readonly LifecycleHook[]
      readonly preTerminate?: readonly LifecycleHook[]
    }
  }
  readonly status?: {
    readonly nodeRef?: { readonly name?: string; readonly uid?: string }
    readonly phase?: string
    readonly conditions?: readonly Condition[]
  }
}

export interface LifecycleHook {
  readonly name: string
  readonly owner: string
}

export interface MachineSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number
    readonly selector?: LabelSelector
    readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }
  }
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number }
}

/** `healthchecking.openshift.io/v1alpha1`: how many of the selected machines a remediator may take away. */
export interface MachineDisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly maxUnavailable?: number
    readonly minAvailable?: number
    readonly selector?: LabelSelector
  }
  readonly status?: MachineDisruptionBudgetStatus
}

export interface MachineDisruptionBudgetStatus {
  readonly observedGeneration?: number
  readonly disruptionsAllowed: number
  readonly currentHealthy: number
  readonly desiredHealthy: number
  readonly expectedMachines: number
  /** Machines that a remediator was let through for, with the time; written by the remediator, like `disruptedPods`. */
  readonly disruptedMachines?: Readonly<Record<string, string>>
}

/** A health check of OpenShift or Cluster API. `maxUnhealthy` is its owner's and is never written here. */
export interface MachineHealthCheck extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string
    readonly selector?: LabelSelector
    readonly maxUnhealthy?: number | string
    readonly nodeStartupTimeout?: string
    readonly unhealthyConditions?: readonly UnhealthyCondition[]
    /** Whoever takes machines away in its place. */
    readonly remediationTemplate?: { readonly kind?: string; readonly name?: string }
  }
  readonly status?: {
    readonly expectedMachines?: number
    readonly currentHealthy?: number
    readonly remediationsAllowed?: number
    readonly observedGeneration?: number
    readonly conditions?: readonly Condition[]
  }
}

export interface UnhealthyCondition {
  readonly type: string
  readonly status: string
  /** `300s`. In NodeHealthCheck it is `duration`. */
  readonly timeout?: string
  readonly duration?: string
}

/** medik8s: `remediation.medik8s.io/v1alpha1`, cluster scoped. */
export interface NodeHealthCheck extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector
    readonly minHealthy?: number | string
    readonly maxUnhealthy?: number | string
    readonly unhealthyConditions?: readonly UnhealthyCondition[]
    /** Each is somebody's reason to pause; everybody adds and removes only his own. */
    readonly pauseRequests?: readonly string[]
  }
  readonly status?: {
    readonly phase?: 'Disabled' | 'Paused' | 'Remediating' | 'Enabled'
    readonly observedNodes?: number
    readonly healthyNodes?: number
    readonly unhealthyNodes?: readonly {
      readonly name: string
      readonly remediations?: readonly { readonly started?: string }[]
    }[]
  }
}

const openshift = { group: 'machine.openshift.io', version: 'v1beta1', namespaced: true }
const clusterApi = { group: 'cluster.x-k8s.io', namespaced: true }

export const openshiftMachines: ResourceType<Machine> = { ...openshift, plural: 'machines', kind: 'Machine' }
export const openshiftMachineSets: ResourceType<MachineSet> = {
  ...openshift,
  plural: 'machinesets',
  kind: 'MachineSet',
}
export const openshiftHealthChecks: ResourceType<MachineHealthCheck> = {
  ...openshift,
  plural: 'machinehealthchecks',
  kind: 'MachineHealthCheck',
}
/** The version that a cluster serves is found out by discovery; this one is preferred. */
export const clusterApiMachines: ResourceType<Machine> = {
  ...clusterApi,
  version: 'v1beta2',
  plural: 'machines',
  kind: 'Machine',
}
export const clusterApiHealthChecks: ResourceType<MachineHealthCheck> = {
  ...clusterApi,
  version: 'v1beta2',
  plural: 'machinehealthchecks',
  kind: 'MachineHealthCheck',
}
export const olderClusterApiVersion = 'v1beta1'
export const machineDisruptionBudgets: ResourceType<MachineDisruptionBudget> = {
  group: 'healthchecking.openshift.io',
  version: 'v1alpha1',
  plural: 'machinedisruptionbudgets',
  kind: 'MachineDisruptionBudget',
  namespaced: true,
}
export const nodeHealthChecks: ResourceType<NodeHealthCheck> = {
  group: 'remediation.medik8s.io',
  version: 'v1alpha1',
  plural: 'nodehealthchecks',
  kind: 'NodeHealthCheck',
  namespaced: false,
}

/** Where OpenShift keeps its machines. */
export const openshiftMachineNamespace = 'openshift-machine-api'
/** Where medik8s keeps a Lease per node, `node-<name>`. */
export const medik8sLeaseNamespace = 'medik8s-leases'
