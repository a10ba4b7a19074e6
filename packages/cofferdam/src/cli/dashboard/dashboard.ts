import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { startDashboard } from '../../dashboard/server/start-dashboard.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { capabilities, shownOf } from '../../operator/capabilities.ts'
import type { CliCommand } from '../command.ts'
import type { Connect } from '../connect.ts'
import { rehearseNodes } from '../observe/rehearse-nodes.ts'
import { parsePort } from '../parse-number.ts'
import { createExplainForPage } from './explain-for-page.ts'
import { createPlanForPage } from './plan-for-page.ts'

interface DashboardFlags {
  readonly port: number
  readonly leaseNamespace: string
}

export function createDashboardCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
  readonly random: Random
  /** Where the built page is. */
  readonly pageDirectory: string
}): CliCommand<DashboardFlags, undefined> {
  const { clock, random, pageDirectory } = ports
  return {
    name: 'dashboard',
    summary: 'serve the live page of a cluster on this machine',
    description:
      'Serves the page of the cluster of the kubeconfig on 127.0.0.1, with your own rights. It only reads. It works without the operator. Ctrl-C ends it.',
    examples: [
      { line: 'cofferdam dashboard', says: 'then open http://127.0.0.1:7400' },
      { line: 'cofferdam dashboard --context production --port 0', says: 'another cluster, any free port' },
    ],

    configure(command) {
      command
        .option('--port <number>', 'the port of the page; 0 takes any free one', parsePort, 7400)
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run({ flags, terminal, signal }) {
      const { api, server, close } = await ports.connect(flags)
      try {
        // A wrong server or missing rights are an error here, not an empty page.
        await api.list(nodes, { limit: 1, signal })
        const { port, leaseNamespace } = flags
        const dashboard = await startDashboard({
          api,
          clock,
          random,
          port,
          pageDirectory,
          cluster: flags.context ?? server,
          shown: shownOf(capabilities),
          rehearse: rehearseNodes,
          explain: createExplainForPage({ api, clock, leaseNamespace }),
          plan: createPlanForPage({ api, clock, leaseNamespace }),
          leaseNamespace,
        })
        try {
          terminal.print(`The page of ${server} is at ${dashboard.url}. It is read-only. Ctrl-C ends it.`)
          await untilAborted(signal)
        } finally {
          await dashboard.close()
        }
      } finally {
        await close()
      }
      return undefined
    },

    render: () => '',
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
