import type { KubeObject } from '../kube-object.ts'
import type { LabelSelector } from '../label-selector.ts'
import type { ResourceType } from '../resource-type.ts'

/** OpenShift: nodes that the Machine Config Operator brings to one configuration, a few at a time. */
export interface MachineConfigPool extends KubeObject {
  readonly spec?: {
    readonly nodeSelector?: LabelSelector
    /** No further node is begun with; one that was begun with goes on. */
    readonly paused?: boolean
    readonly maxUnavailable?: number | string
    readonly configuration?: { readonly name?: string }
  }
}

export const machineConfigPools: ResourceType<MachineConfigPool> = {
  group: 'machineconfiguration.openshift.io',
  version: 'v1',
  plural: 'machineconfigpools',
  kind: 'MachineConfigPool',
  namespaced: false,
}

const prefix = 'machineconfiguration.openshift.io'

/** Annotations of a node by which the parts of the Machine Config Operator speak with each other. */
export const machineConfigAnnotations = {
  currentConfig: `${prefix}/currentConfig`,
  desiredConfig: `${prefix}/desiredConfig`,
  /** `Done`, `Working`, `Degraded`. */
  state: `${prefix}/state`,
  /** `drain-CONFIG` or `uncordon-CONFIG`: what the daemon of the node asks for. */
  desiredDrain: `${prefix}/desiredDrain`,
  /** The last of these that was done. */
  lastAppliedDrain: `${prefix}/lastAppliedDrain`,
  postConfigAction: `${prefix}/post-config-action`,
} as const
