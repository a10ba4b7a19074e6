import { readFileSync } from 'node:fs'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CliCommand } from '@cofferdam/product/cli/command.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { inProcess, runUntil } from '@cofferdam/product/cli/testing/run-command.ts'
import { buildPartAccess } from '@cofferdam/product/deploy/access-manifests.ts'
import { buildAdmissionPolicies } from '@cofferdam/product/deploy/admission-policies.ts'
import { buildOperatorWorkload, operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { controllerNames, permissionsOf } from '@cofferdam/product/operator/controller-names.ts'
import { guardAt } from '@cofferdam/product/operator/guard.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { type Operator, startOperator } from '@cofferdam/product/operator/operator.ts'
import { trustsAlone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { storedResources } from '@cofferdam/simulator/api-server/stored-resources.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import { startCeph } from '@cofferdam/simulator/cluster-file/start-ceph.ts'
import { startLonghorn } from '@cofferdam/simulator/cluster-file/start-longhorn.ts'
import { startMachines } from '@cofferdam/simulator/cluster-file/start-machines.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { startWorld } from '@cofferdam/simulator/world/start-world.ts'
import { load } from 'js-yaml'
import { createGuardService } from './guard-service.ts'
import { installKured, type KuredCluster } from './kured-cluster.ts'

/** The cluster of the demo, with Rook, Longhorn, Machines, kured and apps, before Cofferdam comes and after it has gone. */
export interface WholeLife {
  readonly api: KubeApi
  readonly clock: VirtualClock
  readonly kured: KuredCluster
  /** The way of a user to the cluster who has only what RBAC grants. */
  as(username: string): KubeApi
  seconds(count: number): Promise<void>
  /** Applies deploy/ and starts the operator; it stops when its Deployment is scaled to none. */
  install(): Promise<void>
  /** Deletes what `install` has applied, as `kubectl delete -k deploy/ --ignore-not-found`. */
  deleteManifests(): Promise<void>
  /** Runs one command to its end while time passes, as the administrator or through another way to the cluster. */
  run(
    create: CreateCommand,
    words: readonly string[],
    through?: KubeApi,
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }>
  /** Everything that is stored and that people or operators write, in a form that can be compared. */
  store(): Promise<Record<string, unknown>>
  noout(): Promise<string[]>
  close(): Promise<void>
}

type CreateCommand = (ports: {
  readonly connect: ReturnType<typeof inProcess>['connect']
  readonly clock: VirtualClock
  readonly random: ReturnType<typeof seededRandom>
  readonly requester: () => string
}) => Pick<CliCommand, 'name' | 'summary' | 'examples'>

const clusterFile = new URL('../../examples/clusters/default.yaml', import.meta.url)

/** Without Rook, OSD Deployments are Cofferdam's own, and new disks become OSDs. */
export async function openWholeLife({ isAlone = false } = {}): Promise<WholeLife> {
  const clock = new VirtualClock()
  const random = seededRandom(7)
  const guard = createGuardService()
  const server = new ApiServer({ clock, random, callWebhook: guard.call, resolveWebhookService: () => guard.url })
  server.start()
  const api = server.as(clusterAdmin)
  const file = load(readFileSync(clusterFile, 'utf8')) as JsonObject
  const beside = { ...file, ceph: { ...(file['ceph'] as JsonObject), rook: !isAlone } }
  const description = parseClusterFile(JSON.stringify(beside), 'default.yaml')
  const described = description.ceph as CephClusterDescription
  const shared = { api, clock, random }
  const world = startWorld({ ...shared, kubelet: { readySeconds: 3, terminationSeconds: 3 }, keepEvents: 'none' })
  const ceph = startCeph(described, { ...shared, world })
  await seedCluster(api, description)
  // The cluster file is made for an operator that is there already.
  const settingKey = { namespace: description.longhorn?.namespace ?? '', name: 'node-drain-policy' }
  const unmanaged = { metadata: { annotations: { 'cofferdam.io/manage': null } } }
  await api.patch(longhornSettings, settingKey, { type: 'merge', body: unmanaged })
  const longhorn = description.longhorn && startLonghorn(description.longhorn, { ...shared, world })
  const leaseAccess = buildPartAccess('medik8s', permissionsOf) as readonly unknown[] as readonly KubeObject[]
  const machines =
    description.machines &&
    (await startMachines(description.machines, description.ceph, { ...shared, world, leaseAccess }))
  const kured = await installKured({ ...shared, views: world.views, kubelet: world.kubelet })
  const installed: KubeObject[] = []
  let operator: Operator | undefined

  async function apply(manifests: readonly KubeObject[]): Promise<void> {
    for (const manifest of manifests) {
      const type = typeOfObject(server.catalogue, manifest)
      if (type === undefined) throw new Error(`the embedded server does not serve ${manifest.kind}`)
      await api.create(type, manifest)
    }
  }

  const keys = async () => {
    const found = new Map<string, KubeObject>()
    for (const [kind, type] of storedResources(server.catalogue)) {
      for (const object of (await api.list(type)).items) found.set(`${kind} ${keyText(keyOf(object))}`, object)
    }
    return found
  }

  const life: WholeLife = {
    api,
    clock,
    kured,
    as: (username) => server.as({ username, groups: ['system:authenticated'] }),
    async seconds(count) {
      for (let second = 0; second < count; second += 1) {
        await clock.advance(1_000)
        const key = { ...operatorAccount }
        const scaled = operator && (await api.get(deployments, key).catch(() => undefined))?.spec.replicas === 0
        if (!scaled) continue
        const stopping = operator
        operator = undefined
        void stopping?.stop()
      }
    },
    async install() {
      const before = await keys()
      const operatorApi = await installOperator(server, {
        ceph: [described.namespace],
        ...(description.longhorn && { longhorn: [description.longhorn.namespace] }),
      })
      await apply([...buildAdmissionPolicies(), ...buildOperatorWorkload({ image: 'cofferdam:0.1.0' })] as never)
      for (const [key, object] of await keys()) if (!before.has(key)) installed.push(object)
      operator = startOperator({
        api: operatorApi,
        clock,
        random: random.stream('operator'),
        log: createLog('silent'),
        metrics: createMetrics(),
        controllers: controllerNames,
        dryRun: false,
        lease: { ...operatorAccount, identity: 'pod-1' },
        trust: isAlone ? trustsAlone([described], described.rookImage) : { ...trustsAlone([described]), own: [] },
        ceph: ceph.commandsOf,
        guard: { ...guardAt({ port: 9443 }), listen: guard.listenFor(() => operator === undefined) },
      })
      await life.seconds(45)
    },
    async deleteManifests() {
      for (const manifest of installed) {
        const type = typeOfObject(server.catalogue, manifest)
        if (type !== undefined) await api.delete(type, keyOf(manifest)).catch(() => undefined)
      }
      await life.seconds(30)
    },
    async run(create, words, through = api) {
      const { connect } = inProcess(through)
      const command = create({ connect, clock, random, requester: () => 'admin' }) as CliCommand
      let end: Awaited<ReturnType<typeof runUntil>> | undefined
      const until = new AbortController()
      const running = runUntil(until.signal, command, ...words).then((ended) => {
        end = ended
      })
      for (let second = 0; second < 600 && end === undefined; second += 1) await life.seconds(1)
      until.abort()
      await life.seconds(1)
      await running
      return end as NonNullable<typeof end>
    },
    store: async () => comparable(await keys()),
    async noout() {
      const { out } = await (
        ceph.commandsIn(described.namespace) as NonNullable<ReturnType<typeof ceph.commandsIn>>
      ).run({
        prefix: 'osd dump',
      })
      return Object.keys((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags)
    },
    async close() {
      const stopping = operator?.stop()
      await clock.advance(15_000)
      await stopping
      kured.stop()
      machines?.stop()
      longhorn?.stop()
      await ceph.stop()
      world.stop()
      server.stop()
    },
  }
  await life.seconds(90)
  return life
}

/** What comes and goes by itself, whatever an operator does: by the kind as it is stored. */
const restless = new Set([
  'apps/controllerrevisions',
  'apps/replicasets',
  'discovery.k8s.io/endpointslices',
  'endpoints',
  'events',
  'longhorn.io/engines',
  'longhorn.io/instancemanagers',
  'longhorn.io/replicas',
  'longhorn.io/volumeattachments',
  'longhorn.io/volumes',
  'pods',
  'storage.k8s.io/volumeattachments',
])
/** Rook makes these budgets with the services that they are for; the simulated one makes only those of OSDs, mons and mgrs. */
const rooksOwn = /^policy\/poddisruptionbudgets rook-ceph\/rook-ceph-(mds|rgw|rbd-mirror)-/
const heartbeats = /^coordination\.k8s\.io\/leases kube-node-lease\//

function comparable(objects: ReadonlyMap<string, KubeObject>): Record<string, unknown> {
  const isCompared = (key: string) =>
    !restless.has(key.split(' ')[0] ?? '') && !rooksOwn.test(key) && !heartbeats.test(key)
  const kept = [...objects].filter(([key]) => isCompared(key))
  return Object.fromEntries(
    kept.map(([key, object]) => {
      const { metadata, spec, data, value, status, webhooks } = object as KubeObject & Record<string, unknown>
      const { labels = {}, finalizers = [], ownerReferences = [] } = metadata
      // Kubernetes counts the versions of a pod template there.
      const { 'deployment.kubernetes.io/revision': _, ...annotations } = metadata.annotations ?? {}
      const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly { readonly type: string }[] }
      const types = key.startsWith('nodes ') ? { conditions: conditions.map(({ type }) => type).sort() } : {}
      const owners = ownerReferences.map(({ kind, name }) => `${kind}/${name}`)
      return [
        key,
        { labels, annotations, finalizers, owners, spec: withoutEmpty(spec), data, value, webhooks, ...types },
      ]
    }),
  )
}

/** A merge patch that takes the last entry of an object away leaves an empty one, which says nothing. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = Object.entries(value).map(([key, field]) => [key, withoutEmpty(field)] as const)
  const said = fields.filter(([, field]) => field !== undefined)
  return said.length === 0 ? undefined : Object.fromEntries(said)
}
