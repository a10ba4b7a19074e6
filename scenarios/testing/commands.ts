import { createExplainCommand } from '../../src/cli/explain.ts'
import { createStatusCommand } from '../../src/cli/status.ts'
import { inProcess, runCommand } from '../../src/cli/testing/run-command.ts'
import type { KubeApi } from '../../src/kube/kube-api.ts'
import type { Clock } from '../../src/runtime/clock.ts'

/** What the command line says to somebody who asks now, in one line. */
export async function explainText(api: KubeApi, clock: Clock, object: string): Promise<string> {
  const ports = { connect: inProcess(api).connect, clock }
  return oneLine((await runCommand(createExplainCommand(ports), 'explain', object)).out)
}

export async function statusText(api: KubeApi, clock: Clock): Promise<string> {
  const ports = { connect: inProcess(api).connect, clock }
  return oneLine((await runCommand(createStatusCommand(ports), 'status')).out)
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ')
}
