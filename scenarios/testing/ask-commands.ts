import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import type { Explained } from '@cofferdam/product/cli/explain/question.ts'
import { rehearseNodes } from '@cofferdam/product/cli/observe/rehearse-nodes.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import type { Status } from '@cofferdam/product/cli/status/status-observe.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { observeVerdicts, type Verdicts } from '@cofferdam/product/observe/verdicts.ts'
import { capabilities, shownOf } from '@cofferdam/product/operator/capabilities.ts'

export interface AskPorts {
  readonly api: KubeApi
  readonly clock: Clock
}

/** What the real command prints, and its exit code. */
export async function askExplain({ api, clock }: AskPorts, object: string) {
  const command = createExplainCommand({ connect: inProcess(api).connect, clock })
  const { code, out, err } = await runCommand(command, 'explain', object, '-o', 'json')
  if (out === '') throw new Error(`explain ${object}: ${err}`)
  return { code, answer: JSON.parse(out) as Explained }
}

export async function askStatus({ api, clock }: AskPorts): Promise<Status> {
  const command = createStatusCommand({ connect: inProcess(api).connect, clock })
  const { out, err } = await runCommand(command, 'status', '-o', 'json')
  if (out === '') throw new Error(`status: ${err}`)
  return JSON.parse(out) as Status
}

/** What the page is told of everything that is judged. */
export function askPage({ api, clock }: AskPorts): Promise<Verdicts> {
  const { signal } = new AbortController()
  return observeVerdicts(
    { api, clock, leaseNamespace: 'cofferdam-system', signal, rehearse: rehearseNodes },
    shownOf(capabilities),
  )
}
