import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Step } from '../../../shared/steps.ts'

export type DrainStep = AskWhatIsOnNode | WriteConditions | ReportGoneNode

/** List at the API server what is on the node. */
export interface AskWhatIsOnNode extends Step {
  readonly do: 'ask'
  readonly nodeName: string
}

/** Set conditions of the node, beside those of others. */
export interface WriteConditions extends Step {
  readonly do: 'write'
  readonly nodeName: string
  readonly conditions: readonly Condition[]
}

/** Say that a Node was deleted with pods on it. */
export interface ReportGoneNode extends Step {
  readonly do: 'report'
  readonly nodeName: string
  /** `namespace/name`, sorted. */
  readonly pods: readonly string[]
}
