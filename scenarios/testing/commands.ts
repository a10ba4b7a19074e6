import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { createDrainCommand } from '@cofferdam/product/cli/drain/drain.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'

/** What the command line says to somebody who asks now, in one line. */
export async function explainText(api: KubeApi, clock: Clock, object: string): Promise<string> {
  const ports = { connect: inProcess(api).connect, clock }
  return oneLine((await runCommand(createExplainCommand(ports), 'explain', object)).out)
}

export async function statusText(api: KubeApi, clock: Clock): Promise<string> {
  const ports = { connect: inProcess(api).connect, clock }
  return oneLine((await runCommand(createStatusCommand(ports), 'status', '-o', 'wide')).out)
}

/** What a drain of the node would meet. */
export async function planText(api: KubeApi, clock: Clock, node: string): Promise<string> {
  const ports = { connect: inProcess(api).connect, clock }
  return oneLine(
    (await runCommand(createDrainCommand({ ...ports, requester: () => 'admin' }), 'drain', node, '--dry-run')).out,
  )
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ')
}
