import { events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { Shown } from '../../capabilities/shown.ts'
import type { ShownPorts } from '../../observe/read-shown.ts'
import { observeVerdicts, type Rehearse } from '../../observe/verdicts.ts'
import { disruptionLedgers } from '../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { PageActions } from './action-desk.ts'
import { createAskedViews } from './asked-views.ts'
import { type ClusterFeed, createClusterFeed } from './cluster-feed.ts'
import { viewBudget, viewDrain, viewEvent, viewNode, viewPod } from './cluster-view.ts'
import type { DashboardAccess } from './dashboard-access.ts'
import {
  type ExplainForPage,
  type PageCertificate,
  type PlanForPage,
  type RunningDashboard,
  startDashboardServer,
} from './dashboard-server.ts'
import { createLonghornWatch } from './longhorn-watch.ts'
import { createOsdUpdateWatch } from './osd-update-watch.ts'
import { readPageFiles } from './page-files.ts'
import { createPodLoads, createShownPods } from './shown-pods.ts'
import { viewLedger } from './view-ledger.ts'

export interface DashboardOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** 0 takes any free one. */
  readonly port: number
  readonly host?: string
  /** Where the built page is. */
  readonly pageDirectory: string
  /** How the cluster is called at the top of the page. */
  readonly cluster?: string
  readonly portFlag?: string
  /** Who may see the facts; absent: everyone who reaches the port. */
  readonly access?: DashboardAccess
  /** Serves HTTPS with it; absent: plain HTTP. */
  readonly certificate?: PageCertificate
  /** What capabilities show. */
  readonly shown: readonly Shown<ShownPorts>[]
  readonly explain: ExplainForPage
  /** Left out: the page has no plan. */
  readonly plan?: PlanForPage
  readonly rehearse: Rehearse
  /** Where the operator's lease is; `cofferdam-system` when absent. */
  readonly leaseNamespace?: string
  /** What `/readyz` still waits for; undefined when nothing is missing. */
  readonly whatIsMissing?: () => string | undefined
  /** What the page may do to the cluster: the demo's alone. */
  readonly actions?: PageActions
}

/** A page that shows one cluster live, and changes nothing in it but where the demo passes its actions. */
export async function startDashboard(options: DashboardOptions): Promise<RunningDashboard> {
  const { api, clock, random, port, host = '127.0.0.1', cluster = '', portFlag = '--port' } = options
  const { leaseNamespace = 'cofferdam-system', explain, rehearse, access, certificate } = options
  const whatIsMissing = options.whatIsMissing ?? (() => undefined)
  const files = await readPageFiles(options.pageDirectory)
  const shared = { api, clock, random }
  let feed: ClusterFeed | undefined
  const followed = {
    nodes: createWatchCache({ ...shared, type: nodes, project: viewNode }),
    pods: createWatchCache({ ...shared, type: pods, project: viewPod }),
    budgets: createWatchCache({ ...shared, type: podDisruptionBudgets, project: viewBudget }),
    drains: createOptionalCache({ ...shared, type: nodeDisruptions, project: viewDrain }),
    ledgers: createOptionalCache({ ...shared, type: disruptionLedgers, project: viewLedger }),
    longhorn: createLonghornWatch(shared),
    osdUpdates: createOsdUpdateWatch(shared),
    events: createWatchCache({ ...shared, type: events, project: viewEvent }),
  }
  const { nodes: nodeView, pods: podView, budgets, drains, ledgers, longhorn } = followed
  const asked = createAskedViews({
    clock,
    sources: [nodeView, podView, budgets, drains, ledgers, longhorn],
    isWanted: () => feed?.isWatched === true,
    ask: (signal) => observeVerdicts({ api, clock, leaseNamespace, signal, rehearse }, options.shown),
  })
  const judged = {
    verdicts: asked.view('budgets'),
    nodeVerdicts: asked.view('nodes'),
    ceph: asked.view('ceph'),
    machines: asked.view('machines'),
    panels: asked.view('panels'),
  }
  const shownPods = createShownPods(followed, clock)
  const loads = createPodLoads(followed, clock)
  feed = createClusterFeed({ views: { ...followed, ...judged, pods: shownPods, loads }, clock })
  const stopFollowing = async () => {
    feed?.close()
    await Promise.all([asked, shownPods, loads, ...Object.values(followed)].map((view) => view.stop()))
  }
  try {
    const server = await startDashboardServer({
      feed,
      clock,
      explain,
      plan: options.plan,
      files,
      port,
      host,
      cluster,
      portFlag,
      whatIsMissing,
      actions: options.actions,
      ...(access === undefined ? {} : { access }),
      ...(certificate === undefined ? {} : { certificate }),
    })
    return {
      ...server,
      async close() {
        await server.close()
        await stopFollowing()
      },
    }
  } catch (error) {
    await stopFollowing()
    throw error
  }
}
