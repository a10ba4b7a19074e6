import type { MachineView } from '../capabilities/fencing/domain/snapshot.ts'
import type { FencingView } from '../capabilities/fencing/view/fencing-view.ts'
import { explainMachine } from './explain-machine.ts'

/** A machine in a word, as `explain` judges it. */
export interface MachineVerdict {
  readonly name: string
  /** Absent while it has none. */
  readonly node?: string
  /** `fenced`: a remediator was let through. `removed`: it is being deleted. `kept`: it may not be fenced now. `free`: it may. */
  readonly state: 'fenced' | 'removed' | 'kept' | 'free'
  readonly reason: string
}

/** By `api/namespace/name`. */
export function machineVerdicts(view: FencingView): ReadonlyMap<string, MachineVerdict> {
  return new Map(
    view.snapshot.machines.map((machine) => [
      `${machine.api}/${machine.namespace}/${machine.name}`,
      verdictOf(view, machine),
    ]),
  )
}

function verdictOf(view: FencingView, machine: MachineView): MachineVerdict {
  const { name, nodeName, isBeingDeleted } = machine
  const { mayGo, fencing } = explainMachine(view, machine)
  const isFenced = fencing.underWay !== undefined
  return {
    name,
    ...(nodeName === undefined ? {} : { node: nodeName }),
    state: isBeingDeleted ? 'removed' : isFenced ? 'fenced' : mayGo ? 'free' : 'kept',
    reason: fencing.reason,
  }
}
