import { longhornReplicas, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { realRandom, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { readClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { Readiness } from '@cofferdam/simulator/cluster-file/readiness.ts'
import { Option } from 'commander'
import { createLog } from '../../operator/log.ts'
import type { CliCommand, Invocation } from '../command.ts'
import { parsePort, parseSeed } from '../parse-number.ts'
import { renderData } from '../render-data.ts'
import { type DemoReport, renderDemo } from './demo-text.ts'
import { type Demo, startDemo } from './start-demo.ts'
import { suggestCommands } from './suggest-commands.ts'
import type { LonghornObjects } from './suggest-longhorn.ts'
import { suggestMachines } from './suggest-machines.ts'
import { suggestOsdUpdate } from './suggest-osd-update.ts'

export interface DemoFlags {
  readonly cluster?: string
  readonly scenario: string
  readonly port: number
  readonly kubePort: number
  readonly kubeconfigOut: string
  readonly headless?: boolean
  readonly seed?: number
}

/** Stories the demo can play; `default` leaves the cluster to you. */
const scenarios = ['default']
const readyWithinMs = 30_000

export function createDemoCommand(places: {
  /** Where the built page is. */
  readonly pageDirectory: string
  readonly defaultClusterFile: string
  /** How this program is called from here; `cofferdam` by default. */
  readonly calledAs?: string
}): CliCommand<DemoFlags, undefined> {
  return {
    name: 'demo',
    summary: 'start an embedded cluster to try things on',
    description:
      'Starts a Kubernetes-compatible cluster in this process, with nodes, workloads, a simulated Ceph and Longhorn, the operator and a live page, all on 127.0.0.1. Your own kubectl works with it. Ctrl-C ends it and leaves nothing behind.',
    examples: [
      { line: 'cofferdam demo', says: 'start the default cluster and its page' },
      { line: 'cofferdam demo --cluster examples/clusters/two-drainers.yaml', says: 'start a cluster of your own' },
      {
        line: 'cofferdam demo --headless --kube-port 0 -o json',
        says: 'for scripts: no page, any port, facts as JSON',
      },
    ],

    configure(command) {
      command
        .option('--cluster <file>', 'the cluster to build, as docs/reference/cluster-file.md describes it')
        .addOption(new Option('--scenario <name>', 'the story to play').choices(scenarios).default('default'))
        .option('--port <number>', 'the port of the page; 0 takes any free one', parsePort, 7400)
        .option('--kube-port <number>', 'the port of the Kubernetes API; 0 takes any free one', parsePort, 7443)
        .option('--kubeconfig-out <file>', 'where to write the kubeconfig', '.cofferdam/kubeconfig')
        .option('--headless', 'serve no page')
        .option('--seed <number>', 'decides all that is left to chance', parseSeed)
    },

    async run({ flags, terminal, signal }) {
      const description = await readClusterFile(flags.cluster ?? places.defaultClusterFile)
      const seed = flags.seed ?? Math.floor(realRandom.next() * 2 ** 32)
      terminal.progress('Starting the cluster…')
      const demo = await startDemo({
        description,
        clock: realClock,
        random: seededRandom(seed),
        kubePort: flags.kubePort,
        dashboardPort: flags.headless === true ? undefined : flags.port,
        pageDirectory: places.pageDirectory,
        kubeconfigPath: flags.kubeconfigOut,
        log: createLog('error'),
      })
      try {
        const readiness = await demo.whenReady({
          withinMs: readyWithinMs,
          signal,
          onProgress: ({ ready, wanted }) => terminal.progress(`Waiting for the cluster: ${ready} of ${wanted} ready…`),
        })
        if (!signal.aborted) {
          const { calledAs = 'cofferdam' } = places
          const report = await observeReport(demo, {
            cluster: description.name,
            seed,
            readiness,
            calledAs,
            hasLonghorn: description.longhorn !== undefined,
          })
          const more = [
            ...(await suggestOsdUpdate(demo.api, description.ceph, calledAs)),
            ...(await suggestMachines(demo.api, description.machines, calledAs)),
          ]
          printReport({ ...report, tryThis: [...report.tryThis, ...more] }, { flags, terminal })
        }
        await untilAborted(signal)
        terminal.progress(undefined)
      } finally {
        await demo.stop()
      }
      terminal.note('Stopped.')
      return undefined
    },

    render: () => '',
  }
}

async function observeReport(
  { api, kubeUrl, dashboardUrl, kubeconfigPath }: Demo,
  {
    cluster,
    seed,
    readiness,
    calledAs,
    hasLonghorn,
  }: {
    readonly cluster: string
    readonly seed: number
    readonly readiness: Readiness
    readonly calledAs: string
    readonly hasLonghorn: boolean
  },
): Promise<DemoReport> {
  const [nodeList, podList, budgetList, longhorn] = await Promise.all([
    api.list(nodes),
    api.list(pods),
    api.list(podDisruptionBudgets),
    hasLonghorn ? observeLonghorn(api) : undefined,
  ])
  const zones = new Set(nodeList.items.map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone']))
  return {
    cluster,
    nodes: nodeList.items.length,
    zones: zones.size,
    pods: podList.items.length,
    ...(dashboardUrl === undefined ? {} : { dashboard: dashboardUrl }),
    kubernetes: kubeUrl,
    kubeconfig: kubeconfigPath,
    seed,
    notReady: readiness.waitingFor,
    tryThis: suggestCommands({
      nodes: nodeList.items,
      pods: podList.items,
      budgets: budgetList.items,
      longhorn,
      calledAs,
    }),
  }
}

async function observeLonghorn(api: Demo['api']): Promise<LonghornObjects> {
  const [settings, replicas] = await Promise.all([api.list(longhornSettings), api.list(longhornReplicas)])
  return { settings: settings.items, replicas: replicas.items }
}

/** The demo runs on after its report, so it prints that itself instead of returning it. */
function printReport(report: DemoReport, { flags, terminal }: Pick<Invocation, 'flags' | 'terminal'>): void {
  const { output } = flags
  terminal.print(output === 'text' ? renderDemo(report, terminal.paint) : renderData(report, output))
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
