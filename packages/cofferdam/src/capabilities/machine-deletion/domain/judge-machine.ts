import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { MachineNode, MachineView } from './snapshot.ts'
import type { MachineDeletionStep, ReportMachine } from './steps.ts'

export interface JudgedMachine {
  readonly machine: MachineView
  /** The node that is to be drained for it. */
  readonly wants?: MachineNode
  readonly steps: readonly MachineDeletionStep[]
  readonly deadInMs?: number
}

/** What is known beside the Machine itself. */
export interface AboutMachine {
  /** Undefined: it has none here. */
  readonly node: MachineNode | undefined
  /** The request that was made for it and is not over. */
  readonly own: NodeDisruption | undefined
  /** A request has drained its node for good. */
  readonly isEmptied: boolean
  readonly nowMs: number
}

/**
 * A node that has not been Ready for so long cannot be drained: its kubelet ends no pod. A health check that deletes its Machine must not wait
 * for that. What the machine controller then evicts is up to budgets and guard, as without our hook.
 */
export const deadAfterMs = 5 * 60_000

/** What is done about one Machine. */
export function judgeMachine(machine: MachineView, about: AboutMachine): JudgedMachine {
  const { isOptedIn, hooks, deletedSinceMs, isPaused, isExcluded } = machine
  if (!isOptedIn) return { machine, steps: hooks.isOurs ? [unhook(machine)] : [] }
  if (deletedSinceMs === undefined) return { machine, steps: hooks.isOurs || isPaused ? [] : [hook(machine)] }
  if (isPaused) return { machine, steps: [] }
  const { node, own, isEmptied, nowMs } = about
  if (node === undefined) {
    return letGo(machine, { type: 'Normal', reason: 'MachineNotDrained', note: 'it has no node here' })
  }
  if (isExcluded) {
    const note = `${node.name} is not to be drained: the Machine is annotated exclude-node-draining`
    return letGo(machine, { type: 'Warning', reason: 'MachineNotDrained', note })
  }
  const wants = own !== undefined && !isWaiting(own) ? { wants: node } : {}
  if (isEmptied) {
    return {
      ...wants,
      ...letGo(machine, { type: 'Normal', reason: 'MachineDrained', note: `${node.name} is drained` }),
    }
  }
  const deadInMs = node.isReady ? undefined : notReadySinceMs(node, deletedSinceMs, nowMs) + deadAfterMs - nowMs
  if (deadInMs !== undefined && deadInMs <= 0) {
    const note = `${node.name} has not been Ready for ${deadAfterMs / 60_000} minutes and cannot be drained`
    return { ...wants, ...letGo(machine, { type: 'Warning', reason: 'MachineNotDrained', note }) }
  }
  return { machine, wants: node, steps: [], ...(deadInMs === undefined ? {} : { deadInMs }) }
}

/** A request that holds nothing yet. */
function isWaiting({ status }: NodeDisruption): boolean {
  return ['Pending', 'Waiting'].includes(status?.phase ?? 'Pending')
}

/** A time that is missing, or has not come yet, counts from the deletion, so that nothing waits for ever. */
function notReadySinceMs({ readyChangedMs }: MachineNode, deletedSinceMs: number, nowMs: number): number {
  return readyChangedMs !== undefined && readyChangedMs <= nowMs ? readyChangedMs : Math.min(deletedSinceMs, nowMs)
}

function letGo(machine: MachineView, text: Pick<ReportMachine, 'type' | 'reason' | 'note'>): JudgedMachine {
  if (!machine.hooks.isOurs) return { machine, steps: [] }
  return { machine, steps: [unhook(machine), { do: 'report', machine, ...text }] }
}

function hook(machine: MachineView): MachineDeletionStep {
  return { do: 'write', write: 'hook', machine, isWanted: true }
}

function unhook(machine: MachineView): MachineDeletionStep {
  return { do: 'write', write: 'hook', machine, isWanted: false }
}
