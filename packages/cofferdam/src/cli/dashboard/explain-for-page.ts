import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ExplainForPage } from '../../dashboard/server/dashboard-server.ts'
import { createExplainCommand } from '../explain/explain.ts'
import { runProgram } from '../program.ts'
import { createTerminal } from '../terminal.ts'

/** Answers of `cofferdam explain`, from the command itself: the page cannot say anything else. */
export function createExplainForPage({
  api,
  clock,
  leaseNamespace,
}: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly leaseNamespace: string
}): ExplainForPage {
  const connect = async () => ({ api, server: '', close: async () => {} })
  const commands = [createExplainCommand({ connect, clock })]
  return async (object, signal) => {
    let text = ''
    const stream = { isTTY: true, write: (written: string) => (text += written) }
    const terminal = createTerminal({ stdout: stream, stderr: { ...stream, isTTY: false }, environment: {} })
    const argv = ['explain', '--lease-namespace', leaseNamespace, '--', object]
    const code = await runProgram({ argv, commands, version: '', terminal, signal, debug: false })
    return { code, text }
  }
}
