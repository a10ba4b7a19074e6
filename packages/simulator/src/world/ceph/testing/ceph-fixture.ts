import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { deployments, namespaces, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { CephAnswer, CephCommand } from '@cofferdam/product/ceph/ceph-commands.ts'
import type { World } from '../../start-world.ts'
import { container, openWorld, type Scenario } from '../../testing/scenario.ts'
import type { CephDescription } from '../ceph-description.ts'
import { createSimulatedCeph, type SimulatedCeph } from '../simulated-ceph.ts'

export const cephNamespace = 'rook-ceph'

/** As `osd dump` has them, the fields that stories look at. */
export interface OsdDumpAnswer {
  readonly epoch: number
  readonly osds: readonly {
    readonly osd: number
    readonly up: number
    readonly in: number
    readonly up_from: number
    readonly down_at: number
    readonly state: readonly string[]
  }[]
  readonly crush_node_flags: Readonly<Record<string, readonly string[]>>
}

/** As `pg dump pgs` has them. */
export interface PgAnswer {
  readonly pgid: string
  readonly state: string
  readonly up: readonly number[]
  readonly acting: readonly number[]
  readonly reported_epoch: number
}

export interface CephFixture extends Scenario {
  readonly world: World
  readonly ceph: SimulatedCeph
  readonly run: (prefix: string, args?: Record<string, Json>) => Promise<CephAnswer>
  /** The answer's JSON. */
  readonly ask: <T = Record<string, unknown>>(prefix: string, args?: Record<string, Json>) => Promise<T>
  readonly pgs: () => Promise<readonly PgAnswer[]>
  /** How many placement groups `status` has in each state. */
  readonly states: () => Promise<Record<string, number>>
  readonly cordon: (node: string, on?: boolean) => Promise<void>
  /** Cordons the node and evicts the OSDs that are on it. */
  readonly emptyNode: (node: string) => Promise<void>
  readonly evictOsd: (osd: number) => Promise<void>
}

/** Three zones with two hosts each, two OSDs on a host: node-1 and node-4 are in zone-a, and so on. */
export function smallDescription(changes: Partial<CephDescription> = {}): CephDescription {
  const zones = ['a', 'b', 'c'].map((letter, zone) => ({
    type: 'zone',
    name: `zone-${letter}`,
    children: [0, 1].map((row) => {
      const number = zone + 1 + 3 * row
      return {
        type: 'host',
        name: `node-${number}`,
        osds: [0, 1].map((disk) => ({ id: 2 * (2 * zone + row) + disk })),
      }
    }),
  }))
  return {
    namespace: cephNamespace,
    clusterName: 'rook-ceph',
    crush: { type: 'root', name: 'default', children: zones },
    pools: [
      { name: 'rep', kind: 'replicated', size: 3, minSize: 2, failureDomain: 'host', pgCount: 32 },
      { name: 'ec', kind: 'erasure', size: 3, minSize: 2, k: 2, m: 1, failureDomain: 'zone', pgCount: 32 },
    ],
    ...changes,
  }
}

/** A living cluster in which that Ceph runs: one Deployment for each mon, mgr and OSD, as Rook makes them. */
export async function openCeph(
  options: {
    readonly seed?: number
    readonly description?: CephDescription
    readonly mgrs?: number
    /** Ceph is there before its first pod. */
    readonly early?: boolean
  } = {},
): Promise<CephFixture> {
  const description = options.description ?? smallDescription()
  const scenario = await openWorld({ seed: options.seed ?? 1, nodeCount: 6 })
  const { api, clock, random, world } = scenario
  const create = () => createSimulatedCeph({ api, clock, random, isOn: world.kubelet.isOn }, description)
  const early = options.early === true ? create() : undefined
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: cephNamespace } })
  for (const [index, mon] of ['a', 'b', 'c'].entries())
    await api.create(deployments, daemon('mon', mon, `node-${index + 1}`))
  for (const mgr of ['a', 'b'].slice(0, options.mgrs ?? 1)) await api.create(deployments, daemon('mgr', mgr))
  for (const zone of description.crush.children ?? []) {
    for (const host of zone.children ?? []) {
      for (const { id } of host.osds ?? []) await api.create(deployments, daemon('osd', String(id), host.name))
    }
  }
  if (options.early !== true) await scenario.seconds(20)
  const ceph = early ?? create()
  const run = (prefix: string, args: Record<string, Json> = {}) => ceph.commands.run({ prefix, ...args } as CephCommand)
  await scenario.seconds(1)

  const cordon = async (node: string, on = true) => {
    await api.patch(nodes, { name: node }, { type: 'merge', body: { spec: { unschedulable: on ? true : null } } })
  }
  const evictOsd = async (osd: number) => {
    const { items } = await api.list(pods, { labelSelector: `app=rook-ceph-osd,ceph-osd-id=${osd}` })
    for (const { metadata } of items) {
      const { name, namespace = '' } = metadata
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
      await api.createSubresource(pods, { namespace, name }, 'eviction', eviction)
    }
  }
  return {
    ...scenario,
    ceph,
    run,
    ask: async <T>(prefix: string, args?: Record<string, Json>) => JSON.parse((await run(prefix, args)).out) as T,
    pgs: async () => {
      const { out } = await run('pg dump', { dumpcontents: ['pgs'] })
      return (JSON.parse(out) as { pg_stats: PgAnswer[] }).pg_stats
    },
    states: async () => {
      const { out } = await run('status')
      const { pgmap } = JSON.parse(out) as { pgmap: { pgs_by_state: { state_name: string; count: number }[] } }
      return Object.fromEntries(pgmap.pgs_by_state.map(({ state_name, count }) => [state_name, count]))
    },
    cordon,
    evictOsd,
    async emptyNode(node) {
      await cordon(node)
      const { items } = await api.list(pods, { labelSelector: 'app=rook-ceph-osd' })
      for (const { metadata, spec } of items) {
        if (spec.nodeName === node) await evictOsd(Number(metadata.labels?.['ceph-osd-id']))
      }
    },
    stop() {
      ceph.stop()
      scenario.stop()
    },
  }
}

export function daemon(type: 'mon' | 'mgr' | 'osd', id: string, node?: string): Deployment {
  const name = `rook-ceph-${type}-${id}`
  const labels = {
    app: `rook-ceph-${type}`,
    rook_cluster: cephNamespace,
    ceph_daemon_type: type,
    ceph_daemon_id: id,
    [type]: id,
    ...(type === 'osd' ? { 'ceph-osd-id': id } : {}),
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: cephNamespace, labels },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [container],
          ...(node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
        },
      },
    },
  }
}
