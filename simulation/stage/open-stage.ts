import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { buildPartAccess } from '@cofferdam/product/deploy/access-manifests.ts'
import { permissionsOf } from '@cofferdam/product/operator/controller-names.ts'
import { trustsAlone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { buildCephDescription } from '@cofferdam/simulator/cluster-file/build-ceph-description.ts'
import { type ClusterDescription, parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import { type RunningLonghorn, startLonghorn } from '@cofferdam/simulator/cluster-file/start-longhorn.ts'
import { startMachines } from '@cofferdam/simulator/cluster-file/start-machines.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { createSimulatedCeph, type SimulatedCeph } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import { startWorld, type World } from '@cofferdam/simulator/world/start-world.ts'
import { createGuardService, type GuardService } from '../../scenarios/testing/guard-service.ts'
import { installKured, type KuredCluster } from '../../scenarios/testing/kured-cluster.ts'
import { type MachineConfigs, openMachineConfigs } from '../../scenarios/testing/machine-config-operator.ts'
import { type Maintenances, openMaintenances } from '../../scenarios/testing/maintenance-operator.ts'
import { startRebooter } from '../../scenarios/testing/rebooter.ts'
import type { ClusterShape } from '../story.ts'
import { type CephHazards, hazardCommands } from './ceph-hazards.ts'
import { type Hazards, noHazards } from './hazards.ts'
import { createHeirs, type Heirs } from './heirs.ts'
import { openProcesses, type Processes } from './processes.ts'
import { createRestingClock, type RestingClock } from './resting-clock.ts'
import { type WitnessPorts, witnessed } from './witness.ts'

/** The whole cluster of a story, with two replicas of the operator. */
export interface Stage {
  readonly server: ApiServer
  readonly clock: VirtualClock
  readonly lifeClock: RestingClock
  readonly random: Random
  /** As an administrator, whose writes are seen too. */
  readonly api: KubeApi
  readonly description: ClusterDescription
  readonly shape: ClusterShape
  readonly world: World
  readonly views: Views
  readonly ceph: SimulatedCeph | undefined
  readonly longhorn: RunningLonghorn | undefined
  readonly kured: KuredCluster | undefined
  readonly maintenances: Maintenances | undefined
  readonly machineConfigs: MachineConfigs | undefined
  readonly guard: GuardService
  readonly processes: Processes
  /** What befalls all processes alike. */
  readonly hazards: Hazards
  readonly cephHazards: CephHazards
  readonly heirs: Heirs
  /** Those who reboot nodes forget what they had begun, as their pods do when they are started again. */
  restartTools(): void
  close(): Promise<void>
}

export interface StagePorts extends WitnessPorts {
  readonly seed: number
  readonly shape: ClusterShape
  readonly tell: (line: string) => void
  /** What stands between the operator and the API server, to plant faults of its own. */
  readonly spoil?: (api: KubeApi) => KubeApi
}

const downSeconds = 40

/** Everything is up and clean, the operator too, when this returns. */
export async function openStage({ seed, shape, tell, spoil = (api) => api, ...witness }: StagePorts): Promise<Stage> {
  const clock = new VirtualClock()
  const lifeClock = createRestingClock(clock)
  const random = seededRandom(seed)
  const guard = createGuardService(() => clock.now())
  const server = new ApiServer({ clock, random, callWebhook: guard.call, resolveWebhookService: () => guard.url })
  server.start()
  const admin = server.as(clusterAdmin)
  const description = parseClusterFile(JSON.stringify(shape.file), 'the story')
  const shared = { api: admin as KubeApi, clock: lifeClock, random }
  const isWide = shape.tools !== undefined
  const world = startWorld({ ...shared, kubelet: { readySeconds: 3, terminationSeconds: 2 }, keepEvents: 'none' })
  const { views } = world
  const isOn = (node: string) => world.kubelet.isOn(node)
  const ceph =
    description.ceph && createSimulatedCeph({ ...shared, views, isOn }, buildCephDescription(description.ceph))
  await seedCluster(admin, description)
  if (description.ceph !== undefined) {
    const { namespace, name } = description.ceph
    // Mons are not updated here: nobody waits for them.
    const body = { metadata: { annotations: { 'cofferdam.io/update-mons-first': 'false' } } }
    await admin.patch(cephClusters, { namespace, name }, { type: 'merge', body })
  }
  const longhorn =
    description.longhorn && startLonghorn(description.longhorn, { ...shared, world, joinsNewNodes: isWide })
  const operatorApi = await installOperator(server, {
    ...(description.ceph && { ceph: [description.ceph.namespace] }),
    ...(description.longhorn && { longhorn: [description.longhorn.namespace] }),
  })
  const leaseAccess = buildPartAccess('medik8s', permissionsOf) as readonly unknown[] as readonly KubeObject[]
  const heirs = createHeirs()
  const onDisksMoved = (from: string, to: string) => {
    heirs.replaced(from, to)
    ceph?.controls.disksMoved(from, to)
  }
  const machines =
    description.machines &&
    (await startMachines(description.machines, description.ceph, {
      ...shared,
      world,
      leaseAccess,
      onDisksMoved,
      ...(isWide && { drain: {} }),
    }))
  const api = witnessed(admin, 'people', witness)
  const kured = shape.hasKured
    ? await installKured({ api, clock: lifeClock, views, kubelet: world.kubelet }, { downSeconds })
    : undefined
  const { tools = [] } = shape
  const medik8s = { api, clock: lifeClock, views }
  const maintenances = tools.includes('node-maintenance') ? await openMaintenances(medik8s) : undefined
  const machineConfigs = tools.includes('machine-config')
    ? await openMachineConfigs({ ...medik8s, kubelet: world.kubelet })
    : undefined
  // Views are opened before anybody asks what they hold.
  for (const type of [nodeDisruptions, disruptionLedgers, podDisruptionBudgets, cephClusters, deployments])
    views.of(type as typeof nodeDisruptions)
  const startAgent = () =>
    startRebooter({ world, clock, tell }, downSeconds, ({ metadata }) => metadata.labels === undefined)
  let stopAgent = startAgent()
  await clock.advance(45_000)

  const hazards = noHazards()
  const cephHazards: CephHazards = { trouble: undefined }
  const chance = random.stream('ceph hazards')
  const processes = openProcesses({
    api: spoil(witnessed(operatorApi, 'operator', witness)),
    clock,
    random: random.stream('operators'),
    guard,
    shared: hazards,
    tell,
    ...(description.ceph && { trust: trustsAlone([description.ceph]) }),
    ...(ceph && {
      ceph: (_, isCut) => hazardCommands(ceph.commands, { clock, random: chance, hazards: cephHazards, isCut }),
    }),
  })
  await clock.advance(30_000)

  return {
    server,
    clock,
    lifeClock,
    random,
    api,
    description,
    shape,
    world,
    views,
    ceph,
    longhorn,
    kured,
    maintenances,
    machineConfigs,
    guard,
    processes,
    hazards,
    cephHazards,
    heirs,
    restartTools() {
      stopAgent()
      stopAgent = startAgent()
      for (const node of shape.nodes) kured?.restartPod(node)
      maintenances?.restart()
      machineConfigs?.restart()
    },
    async close() {
      await processes.stop()
      stopAgent()
      kured?.stop()
      maintenances?.stop()
      machineConfigs?.stop()
      machines?.stop()
      longhorn?.stop()
      ceph?.stop()
      world.stop()
      server.stop()
    },
  }
}
