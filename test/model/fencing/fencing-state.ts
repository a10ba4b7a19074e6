import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { gateOf } from '@cofferdam/product/capabilities/fencing/apply/gate.ts'
import type { decideFencing } from '@cofferdam/product/capabilities/fencing/domain/decide.ts'
import type { decideFencingPass } from '@cofferdam/product/capabilities/fencing/domain/decide-pass.ts'
import type { holdFence } from '@cofferdam/product/capabilities/fencing/domain/hold-fence.ts'
import type { FencingStep } from '@cofferdam/product/capabilities/fencing/domain/steps.ts'
import type { storageHolders } from '@cofferdam/product/capabilities/fencing/domain/storage-holders.ts'
import type { Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'

/** The code under test. A test that plants a bug replaces one of them. */
export interface FencingParts {
  readonly decideFencing: typeof decideFencing
  readonly decideFencingPass: typeof decideFencingPass
  readonly storageHolders: typeof storageHolders
  readonly holdFence: typeof holdFence
  readonly gateOf: typeof gateOf
}

export interface FencingBounds {
  readonly name: string
  /** How many nodes fall silent: their kubelets do, and their OSDs run on. */
  readonly deaths: number
  /** Somebody drains node-b for a reboot, in the other failure domain than node-a. */
  readonly hasDrain: boolean
  /** Kubelets that fell silent may answer again by themselves. Two that did not would wait for each other until somebody decides. */
  readonly mayReturn: boolean
}

/** `silent`: its kubelet sends nothing, and its OSDs run on. */
export type Life = 'up' | 'silent' | 'down'

export interface FencedNode {
  readonly life: Life
  readonly boots: number
  readonly isLabelled: boolean
  /** A remediator was let through for its machine. */
  readonly isTaken: boolean
  /** Data of its failure domain is being put in place again. */
  readonly isDirty: boolean
  /** It became Ready within the last ten minutes. */
  readonly isFresh: boolean
}

/** One pass of the operator: what it still has to do, and the budget as it last saw or wrote it. */
export interface FencingWork {
  readonly steps: readonly FencingStep[]
  readonly budget: MachineDisruptionBudget | undefined
  /** Requests of fences that are over: what the ledger still shows of them counts no more. */
  readonly ended: readonly string[]
}

export interface FencingState {
  readonly nodes: readonly [FencedNode, FencedNode]
  readonly budget: MachineDisruptionBudget | undefined
  readonly isPaused: boolean
  readonly ledger: Ledger
  /** Ceph has had time to notice what went. */
  readonly isNoticed: boolean
  readonly drain: 'idle' | 'granted' | 'acting' | 'away' | 'done'
  readonly epoch: number
  /** The node that is rebooted on plan should be back by now. */
  readonly isLate: boolean
  readonly isNoted: boolean
  readonly deathsLeft: number
  readonly work: FencingWork | undefined
}

export const nodeNames = ['node-a', 'node-b'] as const
export const nowMs = Date.UTC(2026, 0, 1, 12)
export const tenMinutesMs = 600_000
export const drainId = 'R'
export const cluster = { namespace: 'rook', name: 'ceph', uid: 'ceph-uid' } as const
export const namespace = 'openshift-machine-api'
export const fenceLabel = 'fencegroup.rook.io/ceph'

export function machineName(index: number): string {
  return `m-${nodeNames[index]}`
}
