import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap, Event } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { configMaps, events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { buildCephDescription } from '@cofferdam/simulator/cluster-file/build-ceph-description.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import { createSimulatedCeph, type SimulatedCeph } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import { startWorld, type World } from '@cofferdam/simulator/world/start-world.ts'
import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import type { CephCommand, CephCommands } from '../../../ceph/ceph-commands.ts'
import type { ControllerName } from '../../../operator/controller-names.ts'
import { createMetrics, type Metrics } from '../../../operator/metrics.ts'
import { type Operator, startOperator } from '../../../operator/operator.ts'
import { buildSafetyIndex } from '../../../safety/safety-index.ts'
import { type CephTrust, trustsAlone } from '../../../shared/ceph-trust/named-clusters.ts'
import { isRetired } from '../domain/retire-budget.ts'

export const namespace = 'rook-ceph'
/** Cofferdam alone has the cluster of the stage, as its administrator says. */
export const alone = trustsAlone([{ namespace, name: 'rook-ceph' }])
/** A Rook has it, whether it runs or not. */
export const besideRook: CephTrust = { ...alone, own: [] }

/** Zones x, y and z with nodes of one kind, and one pool over all of them, as a cluster file. */
export function zonedCluster(given: {
  readonly zones?: readonly string[]
  /** One is `node-x`; of several each has its number: `node-x-1`. */
  readonly nodesPerZone?: number
  readonly osdsPerNode: number
  readonly pgs?: number
  readonly pace?: { readonly readyAfterSeconds: number; readonly terminationSeconds: number }
}): string {
  const { zones = ['x', 'y', 'z'], nodesPerZone = 1, osdsPerNode, pgs = 16 } = given
  const { readyAfterSeconds, terminationSeconds } = given.pace ?? { readyAfterSeconds: 1, terminationSeconds: 1 }
  const name = nodesPerZone === 1 ? "name: 'node-{zone}'" : `name: 'node-{zone}-{n}', count: ${nodesPerZone}`
  return `
name: stage
pace: { readyAfterSeconds: ${readyAfterSeconds}, terminationSeconds: ${terminationSeconds} }
zones: [${zones.map((zone) => `{ name: ${zone} }`).join(', ')}]
nodes:
  - { ${name}, roles: [worker], capacity: { cpu: 16, memory: 64Gi } }
ceph:
  osds: { perNode: ${osdsPerNode} }
  mons: 3
  mgrs: 2
  pools: [{ name: data, failureDomain: zone, pgs: ${pgs} }]
`
}

/** Zones x, y and z with one node each, node-x to node-z, and two OSDs on each of them. */
export const smallCluster = zonedCluster({ osdsPerNode: 2 })

export interface CephFixture extends Scenario {
  readonly world: World
  readonly ceph: SimulatedCeph
  /** Every command that an operator sent, by its prefix. */
  readonly asked: string[]
  /** The same, with all that was said. */
  readonly questions: CephCommand[]
  /** How many safety indexes operators have built. */
  indexesBuilt(): number
  /** Commands that Ceph refuses, as it does to a user without the right. */
  readonly refused: Set<string>
  /** Every write that an operator made: `update configmaps/rook-ceph-pdbstatemap`. */
  readonly written: string[]
  readonly metrics: Metrics
  operate(options?: {
    readonly api?: KubeApi
    /** That of the stage unless told. */
    readonly clock?: Clock
    readonly controllers?: readonly ControllerName[]
    readonly dryRun?: boolean
    /** Cofferdam alone has the cluster unless told. */
    readonly trust?: CephTrust
    /** The way to clusters of other namespaces; none unless told. */
    readonly elsewhere?: CephCommands
  }): Operator
  cordon(node: string, isCordoned?: boolean): Promise<void>
  /** Asks for the pod of this OSD to go; tells what the API server said. */
  evictOsd(id: number): Promise<'going' | 'refused'>
  /** `rook-ceph-osd: 1 of all`, in the order of names. */
  budgets(): Promise<string[]>
  record(): Promise<ConfigMap>
  /** What is on record while Rook's own operator has the budgets. */
  observed(): Promise<ConfigMap>
  /** Reasons of our events about the cluster, oldest first. */
  told(about?: string): Promise<string[]>
  patchCluster(body: Parameters<KubeApi['patch']>[2]['body']): Promise<void>
  close(): Promise<void>
}

export async function openCephFixture(
  file = smallCluster,
  seed = 1,
  server: Parameters<typeof openScenario>[1] = {},
): Promise<CephFixture> {
  const description = parseClusterFile(file, 'the stage')
  const scenario = openScenario(seed, server)
  const { api, clock, random, failures } = scenario
  const { pace } = description
  const world = startWorld({
    api,
    clock,
    random,
    keepEvents: 'none',
    onFailure: (failure) => failures.push(failure),
    kubelet: { readySeconds: pace.readyAfterSeconds, terminationSeconds: pace.terminationSeconds },
  })
  const ceph = createSimulatedCeph(
    { api, clock, random, views: world.views, isOn: world.kubelet.isOn },
    buildCephDescription(description.ceph as CephClusterDescription),
  )
  await seedCluster(api, description)
  await scenario.seconds(60)

  const asked: string[] = []
  const questions: CephCommand[] = []
  const refused = new Set<string>()
  const written: string[] = []
  const metrics = createMetrics()
  const running: Operator[] = []
  let indexes = 0
  const commands: CephCommands = {
    run(command, options) {
      asked.push(command.prefix)
      questions.push(command)
      if (refused.has(command.prefix)) return Promise.resolve({ code: 13, out: '', err: 'access denied' })
      return ceph.commands.run(command, options)
    },
    followLog: (follow) => ceph.commands.followLog(follow),
  }
  const clusterKey = { namespace, name: 'rook-ceph' }
  return {
    ...scenario,
    world,
    ceph,
    asked,
    questions,
    indexesBuilt: () => indexes,
    refused,
    written,
    metrics,
    operate(options = {}) {
      const operator = startOperator({
        api: noted(options.api ?? api, written),
        clock: options.clock ?? clock,
        random: seededRandom(9),
        log: { info() {}, warn() {}, error() {}, debug() {} } as never,
        metrics,
        controllers: options.controllers ?? ['ceph-drain'],
        dryRun: options.dryRun === true,
        ceph: (cluster) => (cluster.namespace === namespace ? commands : options.elsewhere),
        trust: options.trust ?? alone,
        buildIndex(...of) {
          indexes += 1
          return buildSafetyIndex(...of)
        },
      })
      running.push(operator)
      return operator
    },
    async cordon(name, isCordoned = true) {
      const body = { spec: { unschedulable: isCordoned ? true : null } }
      await api.patch(nodes, { name }, { type: 'merge', body })
    },
    async evictOsd(id) {
      const { items } = await api.list(pods, { namespace, labelSelector: `app=rook-ceph-osd,osd=${id}` })
      try {
        for (const { metadata } of items) await evictPod(api, { namespace, name: metadata.name })
        return 'going'
      } catch (error) {
        if (hasReason(error, 'TooManyRequests')) return 'refused'
        throw error
      }
    },
    async budgets() {
      const { items } = await api.list(podDisruptionBudgets, { namespace })
      return items.filter((budget) => !isRetired(budget)).map(budgetText)
    },
    record: () => api.get(configMaps, { namespace, name: 'rook-ceph-pdbstatemap' }),
    observed: () => api.get(configMaps, { namespace, name: 'cofferdam-ceph-drain' }),
    async told(about = 'CephCluster') {
      const { items } = await api.list(events, { namespace })
      return items
        .filter(({ source, involvedObject }) => source?.component === 'cofferdam' && involvedObject.kind === about)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ type, reason, involvedObject }: Event) =>
          about === 'CephCluster' ? `${type} ${reason}` : `${involvedObject.name}: ${reason}`,
        )
    },
    async patchCluster(body) {
      await api.patch(cephClusters, clusterKey, { type: 'merge', body } as Parameters<KubeApi['patch']>[2])
    },
    async close() {
      const stopped = Promise.all(running.map((operator) => operator.stop()))
      await clock.advance(30_000)
      await stopped
      ceph.stop()
      world.stop()
      scenario.stop()
    },
  }
}

export function budgetText({ metadata, spec }: PodDisruptionBudget): string {
  const { matchLabels = {}, matchExpressions = [] } = spec.selector ?? {}
  const limit = spec.minAvailable === undefined ? `${spec.maxUnavailable}` : `at least ${spec.minAvailable}`
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const without = matchExpressions.find(({ operator }) => operator === 'NotIn')?.values ?? []
  const of = labels.length > 0 ? labels.join(',') : without.length === 0 ? 'all' : `all but ${without.join(',')}`
  return `${metadata.name}: ${limit} of ${of}`
}

/** The same API; each write that the server took is noted. */
function noted(api: KubeApi, written: string[]): KubeApi {
  const note = async <T>(text: string, call: Promise<T>): Promise<T> => {
    const answer = await call
    written.push(text)
    return answer
  }
  return {
    get: (...request) => api.get(...request),
    list: (...request) => api.list(...request),
    watch: (...request) => api.watch(...request),
    createSubresource: (...request) => api.createSubresource(...request),
    deleteCollection: (...request) => api.deleteCollection(...request),
    create: (type, object, options) =>
      note(`create ${type.plural}/${object.metadata.name}`, api.create(type, object, options)),
    update: (type, object, options) =>
      note(`update ${type.plural}/${object.metadata.name}`, api.update(type, object, options)),
    patch: (type, key, patch, options) =>
      note(`patch ${type.plural}/${key.name}`, api.patch(type, key, patch, options)),
    delete: (type, key, options) => note(`delete ${type.plural}/${key.name}`, api.delete(type, key, options)),
  }
}
