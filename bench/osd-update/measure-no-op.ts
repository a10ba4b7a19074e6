import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Container, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions, deployments, namespaces, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Outcome } from '@cofferdam/kubernetes/runtime/controller.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { buildOsdDeployment } from '@cofferdam/product/capabilities/osd-update/domain/build-osd-deployment.ts'
import { rookMax } from '@cofferdam/product/capabilities/osd-update/domain/emulate-rook.ts'
import { type ControllerName, controllerNames } from '@cofferdam/product/operator/controller-names.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { startOperator } from '@cofferdam/product/operator/operator.ts'
import { trustsAlone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { rookDefinitions } from '@cofferdam/simulator/cluster-file/rook-definitions.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { cpuSecondsOf, type Row } from '../report/rows.ts'

const osdCount = 10_000
const osdsPerHost = 20
const looks = 20
const namespace = 'rook-ceph'
const image = 'registry.example/ceph/ceph:v19.2.3'
const measuredControllers: readonly string[] = ['osd-update', 'osd-growth']

/** Nothing has changed: the operator looks at 10,000 OSDs and has to find that out without asking or writing anything. */
export async function measureNoOp(): Promise<Row[]> {
  const { api, clock, cluster } = await openCluster()
  const counts = { commands: 0, writes: 0, looks: 0, failures: 0 }
  const metrics = createMetrics()
  const countOutcome = ({ controller, result }: Outcome) => {
    if (result === 'failed') counts.failures += 1
    else if (controller === 'osd-update') counts.looks += 1
  }
  const wire = new Wire()
  globalThis.gc?.()
  const heapBefore = process.memoryUsage().heapUsed
  const open = () =>
    startOperator({
      api: countedApi(api, wire, () => {
        counts.writes += 1
      }),
      clock,
      random: seededRandom(9),
      log: { info() {}, warn() {}, error() {}, debug() {} } as never,
      metrics: { ...metrics, countOutcome },
      controllers: controllerNames.filter((name): name is ControllerName => measuredControllers.includes(name)),
      dryRun: false,
      trust: trustsAlone([{ namespace, name: 'rook-ceph' }]),
      ceph: () => ({
        run() {
          counts.commands += 1
          return Promise.resolve({ code: 1, out: '', err: 'nobody should have asked' })
        },
      }),
    })
  const cold: { operator?: ReturnType<typeof open> } = {}
  const allSeconds = await cpuSecondsOf(async () => {
    cold.operator = open()
    await clock.advanceUntil(() => counts.looks > 0, 60_000)
    await clock.advance(5_000)
  })
  const coldSeconds = allSeconds - wire.seconds
  const megabytes = keptMegabytes(heapBefore)
  const seenCold = counts.looks
  let warmSeconds = 0
  for (let at = 0; at < looks; at += 1) {
    warmSeconds += await cpuSecondsOf(async () => {
      await touch(api, at)
      await clock.advance(5_000)
    })
  }
  const seenWarm = counts.looks - seenCold
  const stopped = cold.operator?.stop()
  await clock.advance(30_000)
  await stopped
  const isQuiet = counts.commands === 0 && counts.writes === 0 && counts.failures === 0
  const each = warmSeconds / seenWarm
  const what = '10,000 OSDs, nothing to update'
  return [
    {
      measured: `${what}: commands to Ceph, writes (Rook asks ok-to-stop at least ${osdCount / rookMax} times)`,
      result: `${counts.commands}, ${counts.writes}`,
      goal: '0, 0',
      reached: isQuiet && cluster.spec?.cephVersion?.image === image,
    },
    {
      measured: `${what}: one reconcile after a change of one Deployment, mean of ${seenWarm}: CPU`,
      result: `${(each * 1000).toFixed(0)} ms`,
      goal: 'under 1,000 ms',
      reached: seenWarm >= looks && each < 1,
    },
    {
      measured: `${what}: the first one, with reading ${2 * osdCount} objects but without their JSON: CPU, kept memory`,
      result: `${coldSeconds.toFixed(2)} s, ${megabytes.toFixed(0)} MB`,
      goal: 'under 5 s, 400 MB',
      reached: seenCold > 0 && coldSeconds < 5 && megabytes < 400,
    },
  ]
}

function keptMegabytes(before: number): number {
  globalThis.gc?.()
  return (process.memoryUsage().heapUsed - before) / 2 ** 20
}

/** What everybody writes on objects now and then; it changes nothing that an OSD is made from. */
async function touch(api: KubeApi, at: number): Promise<void> {
  const key = { namespace, name: `rook-ceph-osd-${at * 487}` }
  const body = { metadata: { annotations: { 'example.com/looked-at': String(at) } } }
  await api.patch(deployments, key, { type: 'merge', body })
}

async function openCluster(): Promise<{
  readonly api: KubeApi
  readonly clock: VirtualClock
  readonly cluster: CephCluster
}> {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1) })
  const api = server.as(clusterAdmin)
  server.start()
  for (const definition of rookDefinitions()) await api.create(customResourceDefinitions, definition)
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as KubeObject)
  await clock.advance(5_000)
  const cluster = await api.create(cephClusters, {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { namespace, name: 'rook-ceph' },
    spec: { cephVersion: { image }, storage: { useAllNodes: true } },
  })
  for (let id = 0; id < osdCount; id += 1) await createOsd(api, cluster, id)
  return { api, clock, cluster }
}

async function createOsd(api: KubeApi, cluster: CephCluster, id: number): Promise<void> {
  const wanted = exampleDeployment(cluster, id)
  const { metadata } = await api.create(deployments, wanted)
  const status = {
    observedGeneration: metadata.generation ?? 1,
    replicas: 1,
    updatedReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    conditions: [{ type: 'Progressing', status: 'True' as const, reason: 'NewReplicaSetAvailable' }],
  }
  await api.patch(
    deployments,
    { namespace, name: metadata.name },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  )
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: `${metadata.name}-0`, labels: wanted.spec.template.metadata?.labels ?? {} },
    spec: wanted.spec.template.spec,
  }
  const { metadata: made } = await api.create(pods, pod)
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await api.patch(
    pods,
    { namespace, name: made.name },
    { type: 'merge', body: { status: ready } },
    { subresource: 'status' },
  )
}

/** About as much as stands in a Deployment of Rook: four containers before the OSD itself, with their variables. */
function exampleDeployment(cluster: CephCluster, id: number): Deployment {
  const host = Math.floor(id / osdsPerHost)
  const built = buildOsdDeployment(cluster, {
    id,
    node: `node-${host}`,
    location: { root: 'default', host: `node-${host}` },
  })
  const env = Array.from({ length: 30 }, (_, at) => ({ name: `ROOK_SETTING_${at}`, value: `value-${at}-of-${id}` }))
  const container = (name: string): Container => ({
    name,
    image,
    command: ['ceph-osd'],
    args: ['--id', String(id)],
    env,
  })
  const { template } = built.spec
  const spec = {
    ...template.spec,
    initContainers: ['activate', 'expand-bluefs', 'chown-container-data-dir'].map(container),
    containers: [container('osd'), container('log-collector')],
  }
  return { ...built, spec: { ...built.spec, template: { ...template, spec } } }
}

/** The same API; each write is counted, and whoever reads gets objects of its own, as over the wire. */
function countedApi(api: KubeApi, wire: Wire, count: () => void): KubeApi {
  const counted =
    <A extends unknown[], R>(call: (...request: A) => R) =>
    (...request: A): R => {
      count()
      return call(...request)
    }
  return {
    get: async (...request) => wire.copyOf(await api.get(...request)),
    list: async (...request) => wire.copyOf(await api.list(...request)),
    async *watch(...request) {
      for await (const event of api.watch(...request)) yield wire.copyOf(event)
    },
    create: counted(api.create.bind(api)) as KubeApi['create'],
    createSubresource: counted(api.createSubresource.bind(api)),
    update: counted(api.update.bind(api)) as KubeApi['update'],
    patch: counted(api.patch.bind(api)) as KubeApi['patch'],
    delete: counted(api.delete.bind(api)) as KubeApi['delete'],
    deleteCollection: counted(api.deleteCollection.bind(api)),
  }
}

class Wire {
  seconds = 0

  copyOf<T>(value: T): T {
    const before = process.cpuUsage()
    const copy = JSON.parse(JSON.stringify(value)) as T
    const { user, system } = process.cpuUsage(before)
    this.seconds += (user + system) / 1e6
    return copy
  }
}
