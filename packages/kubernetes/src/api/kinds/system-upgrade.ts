import type { Toleration } from '../core.ts'
import type { Condition, KubeObject } from '../kube-object.ts'
import type { LabelSelector } from '../label-selector.ts'
import type { ResourceType } from '../resource-type.ts'

/** A Plan of Rancher's system-upgrade-controller: of its fields those that decide how nodes are taken out. */
export interface UpgradePlan extends KubeObject {
  readonly spec: {
    readonly concurrency?: number
    /** 0: none; absent: that of the controller, ten minutes. */
    readonly jobActiveDeadlineSecs?: number
    readonly nodeSelector?: LabelSelector
    readonly serviceAccountName?: string
    readonly version?: string
    readonly tolerations?: readonly Toleration[]
    /** Runs on the node before it is cordoned or drained. */
    readonly prepare?: PlanContainer
    readonly cordon?: boolean
    readonly drain?: { readonly force?: boolean; readonly disableEviction?: boolean }
    readonly upgrade: PlanContainer
  }
  readonly status?: {
    readonly latestVersion?: string
    readonly latestHash?: string
    /** Nodes that have a Job now. */
    readonly applying?: readonly string[]
    readonly conditions?: readonly Condition[]
  }
}

export interface PlanContainer {
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
}

export const upgradePlans: ResourceType<UpgradePlan> = {
  group: 'upgrade.cattle.io',
  version: 'v1',
  plural: 'plans',
  kind: 'Plan',
  namespaced: true,
}
