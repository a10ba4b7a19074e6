import { longhornReplicas, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { realRandom, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { readClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { Readiness } from '@cofferdam/simulator/cluster-file/readiness.ts'
import { createLog } from '../../operator/log.ts'
import type { Invocation } from '../command.ts'
import { renderData } from '../render-data.ts'
import { untilEnter } from '../until-enter.ts'
import type { DemoFlags, DemoPlaces } from './demo-flags.ts'
import { type DemoReport, renderDemo } from './demo-text.ts'
import { type Demo, startDemo } from './start-demo.ts'
import { suggestCommands } from './suggest-commands.ts'
import type { LonghornObjects } from './suggest-longhorn.ts'
import { suggestMachines } from './suggest-machines.ts'
import { suggestOsdUpdate } from './suggest-osd-update.ts'
import { runTour } from './tour/run-tour.ts'
import type { TourResult } from './tour/tour-step.ts'

/** On an idle machine it takes some ten seconds; a busy one may take several times as long. */
const readyWithinMs = 90_000

const usualPorts = { page: 7400, kubernetes: 7443, metrics: 7480 }
const usualKubeconfig = '.cofferdam/kubeconfig'

/** Starts the cluster, says what there is to try, and runs until the signal fires. */
export async function runDemo(
  places: DemoPlaces,
  { flags, terminal, signal }: Pick<Invocation<DemoFlags>, 'flags' | 'terminal' | 'signal'>,
): Promise<TourResult | undefined> {
  if (flags.tour === true && flags.cluster !== undefined) {
    throw new CofferdamError('USAGE', 'the tour is for the default cluster: --tour and --cluster exclude each other', {
      facts: { cluster: flags.cluster },
      hint: 'leave one of them out',
    })
  }
  const description = await readClusterFile(flags.cluster ?? places.defaultClusterFile)
  const seed = flags.seed ?? Math.floor(realRandom.next() * 2 ** 32)
  terminal.progress('Starting the cluster…')
  const demo = await startDemo({
    description,
    clock: realClock,
    random: seededRandom(seed),
    kubePort: flags.kubePort ?? { from: usualPorts.kubernetes },
    dashboardPort: flags.headless === true ? undefined : (flags.port ?? { from: usualPorts.page }),
    metricsPort: flags.metricsPort ?? { from: usualPorts.metrics },
    pageDirectory: places.pageDirectory,
    kubeconfigPath: flags.kubeconfigOut ?? usualKubeconfig,
    mayChooseKubeconfig: flags.kubeconfigOut === undefined,
    log: createLog('error'),
    ...(places.calledAs === undefined ? {} : { calledAs: places.calledAs }),
  })
  try {
    const readiness = await demo.whenReady({
      withinMs: readyWithinMs,
      signal,
      onProgress: ({ ready, wanted }) => terminal.progress(`Waiting for the cluster: ${ready} of ${wanted} ready…`),
    })
    const { calledAs = 'cofferdam' } = places
    if (flags.tour === true && !signal.aborted) {
      const result = await walkThrough(demo, { places, flags, terminal, signal, calledAs })
      if (result !== undefined) return result
    } else if (!signal.aborted) {
      const report = await observeReport(demo, {
        cluster: description.name,
        seed,
        readiness,
        calledAs,
        longhornNamespace: description.longhorn?.namespace,
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
}

async function walkThrough(
  demo: Demo,
  {
    places,
    flags,
    terminal,
    signal,
    calledAs,
  }: Pick<Invocation<DemoFlags>, 'flags' | 'terminal' | 'signal'> & {
    readonly places: DemoPlaces
    readonly calledAs: string
  },
): Promise<TourResult | undefined> {
  const { keys, commands = () => [] } = places
  if (demo.dashboardUrl !== undefined) terminal.print(`Every step can be seen on the page too: ${demo.dashboardUrl}`)
  return runTour({
    api: demo.api,
    clock: realClock,
    terminal,
    signal,
    kubeconfigPath: demo.kubeconfigPath,
    commands: commands(),
    calledAs,
    async untilNext() {
      if (keys === undefined || flags.yes === true) return
      terminal.progress('Enter: the next step')
      await untilEnter(keys, signal)
      terminal.progress(undefined)
    },
  })
}

async function observeReport(
  { api, kubeUrl, dashboardUrl, metricsUrl, kubeconfigPath }: Demo,
  {
    cluster,
    seed,
    readiness,
    calledAs,
    longhornNamespace,
  }: {
    readonly cluster: string
    readonly seed: number
    readonly readiness: Readiness
    readonly calledAs: string
    readonly longhornNamespace: string | undefined
  },
): Promise<DemoReport> {
  const [nodeList, podList, budgetList, longhorn] = await Promise.all([
    api.list(nodes),
    api.list(pods),
    api.list(podDisruptionBudgets),
    longhornNamespace === undefined ? undefined : observeLonghorn(api, longhornNamespace),
  ])
  const zones = new Set(nodeList.items.map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone']))
  return {
    cluster,
    nodes: nodeList.items.length,
    zones: zones.size,
    pods: podList.items.length,
    ...(dashboardUrl === undefined ? {} : { dashboard: dashboardUrl }),
    kubernetes: kubeUrl,
    ...(metricsUrl === undefined ? {} : { metrics: metricsUrl }),
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

async function observeLonghorn(api: Demo['api'], namespace: string): Promise<LonghornObjects> {
  const [settings, replicas] = await Promise.all([
    api.list(longhornSettings, { namespace }),
    api.list(longhornReplicas, { namespace }),
  ])
  return { namespace, settings: settings.items, replicas: replicas.items }
}

/** The demo runs on after its report, so it prints that itself instead of returning it. */
function printReport(report: DemoReport, { flags, terminal }: Pick<Invocation, 'flags' | 'terminal'>): void {
  const { output } = flags
  terminal.print(
    output === 'json' || output === 'yaml' ? renderData(report, output) : renderDemo(report, terminal.paint),
  )
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
