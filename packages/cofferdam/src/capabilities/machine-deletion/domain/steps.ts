import type { Reason } from '../../../shared/reasons.ts'
import type { Step } from '../../../shared/steps.ts'
import type { ToolRequestStep } from '../../../shared/tool-request.ts'
import type { MachineView } from './snapshot.ts'

export type MachineDeletionStep = ToolRequestStep | WriteHook | ReportMachine

/** Set our pre-drain hook on a Machine, or take it away, as it was seen. */
export interface WriteHook extends Step {
  readonly do: 'write'
  readonly write: 'hook'
  readonly machine: MachineView
  readonly isWanted: boolean
}

/** Why the hook of a Machine that is being deleted was taken away. */
export interface ReportMachine extends Step {
  readonly do: 'report'
  readonly machine: MachineView
  readonly type: 'Normal' | 'Warning'
  readonly reason: Reason
  readonly note: string
}
