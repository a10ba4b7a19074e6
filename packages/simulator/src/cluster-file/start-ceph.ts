import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCommands } from '../world/ceph/ceph-commands.ts'
import { followDiskWishes } from '../world/ceph/disk-wishes.ts'
import { startRookBudgets } from '../world/ceph/rook/budget-controller.ts'
import type { OsdDevice } from '../world/ceph/rook/disk-maker.ts'
import { startOsdPrepare } from '../world/ceph/rook/osd-prepare.ts'
import { createSimulatedCeph } from '../world/ceph/simulated-ceph.ts'
import type { World } from '../world/start-world.ts'
import { askCephStatus } from './ask-ceph-status.ts'
import { buildCephDescription } from './build-ceph-description.ts'
import { judgeCephReadiness } from './ceph-readiness.ts'
import { failureDomainTypes } from './ceph-schema.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import { reportCephHealth } from './report-ceph-health.ts'

export interface RunningCeph {
  /** The way to the cluster of that name; undefined when it is not this one. */
  commandsOf(cluster: { readonly namespace: string; readonly name: string }): CephCommands | undefined
  /** The way to the cluster whose toolbox is in that namespace. */
  commandsIn(namespace: string): CephCommands | undefined
  /** What is missing until it is up and guarded, in words. */
  observeMissing(): Promise<string[]>
  stop(): Promise<void>
}

/** The simulated Ceph behind the daemons of a cluster, and what Rook would say of it. */
export function startCeph(
  ceph: CephClusterDescription,
  ports: { readonly api: KubeApi; readonly clock: Clock; readonly random: Random; readonly world: World },
): RunningCeph {
  const { api, clock, random, world } = ports
  const { namespace, name } = ceph
  const { views, kubelet } = world
  const isOn = (node: string) => kubelet.isOn(node)
  const simulated = createSimulatedCeph({ api, clock, random, views, isOn }, buildCephDescription(ceph))
  const { commands } = simulated
  const endWishes = followDiskWishes({ views, namespace, controls: simulated.controls })
  const prepare = startOsdPrepare({
    api,
    clock,
    random,
    views,
    isOn,
    namespace,
    ceph: simulated,
    devices: disksOf(ceph),
  })
  const rook = ceph.rook
    ? startRookBudgets(
        { api, clock, random, views },
        { cluster: { namespace, name }, commands, failureDomainType: narrowestDomain(ceph) },
      )
    : undefined
  const stopping = new AbortController()
  const reporting = reportCephHealth({ api, clock, commands, cluster: { namespace, name } }, stopping.signal)
  return {
    commandsOf: (cluster) => (cluster.namespace === namespace && cluster.name === name ? commands : undefined),
    commandsIn: (asked) => (asked === namespace ? commands : undefined),
    async observeMissing() {
      const [status, budgets] = await Promise.all([
        askCephStatus(commands),
        api.list(podDisruptionBudgets, { namespace }),
      ])
      return judgeCephReadiness(ceph, { status, budgets: budgets.items, nowMs: clock.now() })
    },
    async stop() {
      stopping.abort()
      endWishes()
      prepare.stop()
      rook?.stop()
      simulated.stop()
      await reporting
    },
  }
}

/** As Rook has it from the pools that have a resource: the lowest type of any of them. */
function narrowestDomain({ rados }: CephClusterDescription): string {
  const used = rados.filter(({ hasResource }) => hasResource).map(({ failureDomain }) => failureDomain)
  return failureDomainTypes.find((type) => type !== 'osd' && used.includes(type)) ?? 'host'
}

/** On each node one disk for each of its OSDs. */
function disksOf({ osds, deviceClass }: CephClusterDescription): Record<string, readonly OsdDevice[]> {
  const disks: Record<string, readonly OsdDevice[]> = {}
  for (const { id, node } of osds) {
    const own = disks[node] ?? []
    disks[node] = [...own, { name: `osd${own.length}`, osd: id, deviceClass }]
  }
  return disks
}
