import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import type { Terminal } from '../terminal.ts'

/** A request without an operator waits for ever, and would not say why. */
export async function noteWithoutOperator(options: {
  readonly api: KubeApi
  readonly leaseNamespace: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly terminal: Terminal
}): Promise<void> {
  const { api, leaseNamespace, clock, signal, terminal } = options
  const { isRunning } = await observeOperator({ api, leaseNamespace, now: timestamp(clock), signal }, [])
  if (isRunning !== false) return
  terminal.note(
    `${terminal.paint('yellow', 'warning:')} no operator is running, so the request waits: start it with cofferdam operator, or see kubectl -n ${leaseNamespace} get pods`,
  )
}
