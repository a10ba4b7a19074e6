import type { ToolRequestSnapshot } from '../../../shared/tool-request.ts'
import type { Maintenance, UnusableMaintenance } from './parse-maintenance.ts'

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
