import { fenceLabelValue } from './fence-labels.ts'
import type { RunningOsds } from './running-osds.ts'
import type { FencedCluster, MachineBudgetView, MachineView } from './snapshot.ts'

/** A cluster that is looked after, and what its machines carry. */
export interface LabelledCluster {
  readonly cluster: FencedCluster
  readonly key: string
  readonly osds: RunningOsds
  /** Nodes with OSDs of it that run or may run, and that no Machine has. In order. */
  readonly unclaimed: readonly string[]
  readonly budgetName: string
  /** The budget it has. */
  readonly budget: MachineBudgetView | undefined
  /** Others that were made for it, in another namespace or under another name. */
  readonly formerBudgets: readonly MachineBudgetView[]
}

/** Does an OSD of the cluster run on the machine? */
export function placeOf({ nodeName }: MachineView, { osds, unclaimed }: LabelledCluster): 'runs' | 'unknown' | 'none' {
  if (nodeName !== undefined && osds.running.has(nodeName)) return 'runs'
  if (nodeName !== undefined && osds.uncertain.has(nodeName)) return 'unknown'
  if (osds.unplaced !== undefined) return 'unknown'
  // A machine that lost its node may be the one of a node that nobody has.
  return nodeName === undefined && unclaimed.length > 0 ? 'unknown' : 'none'
}

/** Whether the machine counts as one that holds OSDs of the cluster: exactly when it carries the label once all is as decided. */
export function isStorageMachine(machine: MachineView, labelled: LabelledCluster): boolean {
  const place = placeOf(machine, labelled)
  return place === 'runs' || (place === 'unknown' && machine.labels[labelled.key] === fenceLabelValue)
}
