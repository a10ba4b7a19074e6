import type { Step } from '../../../shared/steps.ts'

export type KeepStep = WriteMarks | ReportForcedEnd

/** Set the marks that autoscalers read, or take back those that are ours. Decided once more on the node as it is then. */
export interface WriteMarks extends Step {
  readonly do: 'write'
  readonly nodeName: string
  readonly nodeUid: string
  readonly isKept: boolean
}

/** Say that pods of the node are deleted at a set time, whatever their budgets say. Undefined: nothing of that kind is ahead. */
export interface ReportForcedEnd extends Step {
  readonly do: 'report'
  readonly nodeName: string
  readonly nodeUid: string
  readonly note: string | undefined
}
