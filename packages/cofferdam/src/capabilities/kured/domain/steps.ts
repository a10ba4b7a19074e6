import type { Reason } from '../../../shared/reasons.ts'
import type { Step } from '../../../shared/steps.ts'
import type { ToolRequestStep } from '../../../shared/tool-request.ts'

export type KuredStep = WriteKuredLock | ToolRequestStep | ReportKured

/** Compare-and-swap of annotations on kured's DaemonSet; null removes one. */
export interface WriteKuredLock extends Step {
  readonly do: 'write'
  readonly write: 'lock'
  readonly daemonSet: { readonly namespace: string; readonly name: string; readonly resourceVersion: string }
  readonly annotations: Readonly<Record<string, string | null>>
  /** To be told once it is written. */
  readonly news: readonly KuredNews[]
}

/** Everything that is wrong now. */
export interface ReportKured extends Step {
  readonly do: 'report'
  readonly standing: readonly KuredNews[]
}

export interface KuredNews {
  readonly about:
    | { readonly kind: 'Node'; readonly name: string; readonly uid: string }
    | { readonly kind: 'DaemonSet'; readonly namespace: string; readonly name: string; readonly uid: string }
  readonly type: 'Normal' | 'Warning'
  readonly reason: Reason
  readonly note: string
}
