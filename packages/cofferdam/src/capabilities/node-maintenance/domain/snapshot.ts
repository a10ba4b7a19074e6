import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ToolRequestSnapshot } from '../../../shared/tool-request.ts'

/** One NodeMaintenance that asks for its node. */
export interface Maintenance {
  readonly name: string
  readonly uid: string
  readonly nodeName: string
  readonly reason: string
}

export interface UnusableMaintenance {
  readonly about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>
  readonly why: string
}

/** What is kept of a node. */
export interface MaintainedNode {
  readonly name: string
  /** The operator of the maintenance has begun with it: it carries its taint, and is cordoned. */
  readonly isTaken: boolean
  readonly bootID: string
}

export interface MaintenanceSnapshot extends Pick<ToolRequestSnapshot, 'requests'> {
  readonly maintenances: readonly Maintenance[]
  readonly unusable: readonly UnusableMaintenance[]
  readonly nodes: ReadonlyMap<string, MaintainedNode>
}
