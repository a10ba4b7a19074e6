import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { type Random, randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { startHttpFace } from '@cofferdam/simulator/api-server/http/http-face.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { addToolbox, createToolboxExec } from '@cofferdam/simulator/cluster-file/ceph-toolbox.ts'
import type { ClusterDescription } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { observeReadiness, type Readiness } from '@cofferdam/simulator/cluster-file/readiness.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import { type RunningCeph, startCeph } from '@cofferdam/simulator/cluster-file/start-ceph.ts'
import { startLonghorn } from '@cofferdam/simulator/cluster-file/start-longhorn.ts'
import { startMachines } from '@cofferdam/simulator/cluster-file/start-machines.ts'
import { startWorld } from '@cofferdam/simulator/world/start-world.ts'
import { startDashboard } from '../../dashboard/server/start-dashboard.ts'
import { buildPartAccess } from '../../deploy/access-manifests.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { capabilities, shownOf } from '../../operator/capabilities.ts'
import { controllerNames, permissionsOf } from '../../operator/controller-names.ts'
import { startHealthServer } from '../../operator/health-server.ts'
import { createMetrics } from '../../operator/metrics.ts'
import { startOperator } from '../../operator/operator.ts'
import { type CephTrust, trustsAlone } from '../../shared/ceph-trust/named-clusters.ts'
import { createExplainForPage } from '../dashboard/explain-for-page.ts'
import { createPlanForPage } from '../dashboard/plan-for-page.ts'
import { rehearseNodes } from '../observe/rehearse-nodes.ts'
import { createPageActions } from './actions/create-page-actions.ts'
import { createDemoCertificate } from './demo-certificate.ts'
import { listenOn, type PortChoice } from './free-port.ts'
import { installOperator } from './install-operator.ts'
import { writeKubeconfig } from './kubeconfig-file.ts'

export interface DemoOptions {
  readonly description: ClusterDescription
  readonly clock: Clock
  readonly random: Random
  readonly kubePort: PortChoice
  /** Undefined: no page. */
  readonly dashboardPort: PortChoice | undefined
  /** Undefined: no metrics are served. */
  readonly metricsPort?: PortChoice
  readonly pageDirectory: string
  readonly kubeconfigPath: string
  /** Whether the kubeconfig may be another file in its folder where that one belongs to somebody else. */
  readonly mayChooseKubeconfig?: boolean
  readonly log: Log
  /** How this program is called, for the commands that buttons show; `cofferdam` by default. */
  readonly calledAs?: string
}

export interface Demo {
  readonly kubeUrl: string
  readonly dashboardUrl: string | undefined
  readonly metricsUrl: string | undefined
  readonly kubeconfigPath: string
  readonly api: KubeApi
  /** Resolves when all is up, or with what is missing when the time is used up. It goes on getting ready after that. */
  whenReady(options: {
    readonly withinMs: number
    readonly signal: AbortSignal
    readonly onProgress?: (readiness: Readiness) => void
  }): Promise<Readiness>
  /** Ends everything and leaves nothing behind. */
  stop(): Promise<void>
}

const pollEveryMs = 150

/** The embedded cluster with all that lives on it: nodes, workloads, operator, page. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { description, clock, random, log } = options
  const endings: (() => unknown)[] = []
  const stop = async () => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end()
  }
  const stopping = new AbortController()
  endings.push(() => stopping.abort())
  let latest: Readiness = { ready: 0, wanted: 1, waitingFor: ['the first snapshot of the cluster'] }
  const isReady = () => latest.waitingFor.length === 0

  try {
    const server = new ApiServer({ clock, random })
    const api = server.as(clusterAdmin)
    server.start()
    endings.push(() => server.stop())

    let ceph: RunningCeph | undefined
    const { tls, certificateAuthority } = createDemoCertificate(clock.now())
    const face = await listenOn(options.kubePort, (port) =>
      startHttpFace({
        server,
        tls,
        clock,
        port,
        portFlag: '--kube-port',
        isReady,
        exec: createToolboxExec((namespace) => ceph?.commandsIn(namespace)),
      }),
    )
    endings.push(() => face.close())

    const dashboard =
      options.dashboardPort === undefined
        ? undefined
        : await listenOn(options.dashboardPort, (port) =>
            startDashboard({
              api,
              clock,
              random: random.stream('dashboard'),
              port,
              portFlag: '--port',
              pageDirectory: options.pageDirectory,
              shown: shownOf(capabilities),
              rehearse: rehearseNodes,
              explain: createExplainForPage({ api, clock, leaseNamespace: operatorAccount.namespace }),
              plan: createPlanForPage({ api, clock, leaseNamespace: operatorAccount.namespace }),
              cluster: description.name,
              actions: createPageActions({
                api,
                clock,
                random: random.stream('page'),
                calledAs: options.calledAs ?? 'cofferdam',
              }),
              whatIsMissing: () => (isReady() ? undefined : latest.waitingFor.join(', ')),
            }),
          )
    if (dashboard !== undefined) endings.push(() => dashboard.close())

    const kubeconfig = await writeKubeconfig(options.kubeconfigPath, face.secureUrl ?? face.url, {
      mayChoose: options.mayChooseKubeconfig === true,
      certificateAuthority,
      token: server.adminToken,
    })
    endings.push(() => kubeconfig.remove())

    const world = startWorld({ api, clock, random, kubelet: kubeletPace(description) })
    endings.push(() => world.stop())
    if (description.ceph !== undefined) {
      const running = startCeph(description.ceph, { api, clock, random, world })
      ceph = running
      endings.push(() => running.stop())
    }
    await seedCluster(api, description)
    if (description.ceph !== undefined) await addToolbox(api, description.ceph.namespace)
    const longhorn = description.longhorn && startLonghorn(description.longhorn, { api, clock, random, world })
    if (longhorn !== undefined) endings.push(() => longhorn.stop())

    const operatorApi = await installOperator(server, {
      ...(description.ceph && { ceph: [description.ceph.namespace] }),
      ...(description.longhorn && { longhorn: [description.longhorn.namespace] }),
    })
    const machines =
      description.machines &&
      (await startMachines(description.machines, description.ceph, {
        api,
        clock,
        random,
        world,
        leaseAccess: buildPartAccess('medik8s', permissionsOf) as readonly unknown[] as readonly KubeObject[],
      }))
    if (machines !== undefined) endings.push(() => machines.stop())
    const metrics = createMetrics()
    const operator = startOperator({
      api: operatorApi,
      clock,
      random: random.stream('operator'),
      log,
      metrics,
      controllers: controllerNames,
      dryRun: false,
      lease: { ...operatorAccount, identity: `demo_${randomSuffix(random.stream('identity'), 8)}` },
      guard: {
        host: '127.0.0.1',
        port: 0,
        addressOf: (port) => ({ url: `https://127.0.0.1:${port}` }),
        hosts: ['127.0.0.1'],
      },
      ...(ceph === undefined ? {} : { ceph: ceph.commandsOf }),
      ...(description.ceph === undefined ? {} : { trust: trustOf(description.ceph) }),
    })
    endings.push(() => operator.stop())
    const health =
      options.metricsPort === undefined
        ? undefined
        : await listenOn(options.metricsPort, (port) =>
            startHealthServer({
              host: '127.0.0.1',
              port,
              portFlag: '--metrics-port',
              checks: operator.health,
              registry: metrics.registry,
            }),
          )
    if (health !== undefined) endings.push(() => health.close())

    const storage = [ceph, longhorn, machines].filter((each) => each !== undefined)
    const becomingReady = (async () => {
      while (!stopping.signal.aborted) {
        latest = await observeReadiness(api, storage)
        // Once up it stays up: what people then do to their cluster is not the demo's affair.
        if (isReady()) return
        await sleep(clock, pollEveryMs, stopping.signal)
      }
    })()
    endings.push(async () => {
      stopping.abort()
      await becomingReady
    })

    return {
      kubeUrl: face.url,
      dashboardUrl: dashboard?.url,
      metricsUrl: health && `http://127.0.0.1:${health.port}/metrics`,
      kubeconfigPath: kubeconfig.path,
      api,
      async whenReady({ withinMs, signal, onProgress }) {
        const deadline = clock.now() + withinMs
        while (!isReady() && clock.now() < deadline && !signal.aborted) {
          onProgress?.(latest)
          await sleep(clock, pollEveryMs, signal)
        }
        return latest
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Pods stop when their own grace period ends; the kubelet's cap must let the slowest have theirs. */
function kubeletPace({ pace, apps }: ClusterDescription) {
  const own = apps.map(({ terminationSeconds }) => terminationSeconds ?? 0)
  return { readySeconds: pace.readyAfterSeconds, terminationSeconds: Math.max(pace.terminationSeconds, ...own) }
}

/** Where the cluster file has a Rook, nothing is its own that Rook may write. */
function trustOf(ceph: CephClusterDescription): CephTrust {
  return ceph.rook ? { ...trustsAlone([ceph]), own: [] } : trustsAlone([ceph], ceph.rookImage)
}
