import type { CephDescription, CrushDescription, PoolDescription } from '../world/ceph/ceph-description.ts'
import { letters } from './build-ceph-daemons.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import type { OsdPlace } from './osd-place.ts'
import type { RadosPool } from './rados-pool.ts'

/** From the root down to the hosts. */
const bucketTypes = ['root', 'zone', 'rack', 'host'] as const

/** The same cluster as the simulated Ceph takes it. */
export function buildCephDescription(ceph: CephClusterDescription): CephDescription {
  const { namespace, name, osds, deviceClass, rados, monNodes, pace } = ceph
  const [root] = buildBuckets(osds, { depth: 0, deviceClass })
  return {
    namespace,
    clusterName: name,
    crush: root ?? { type: 'root', name: 'default' },
    pools: rados.map(buildPool),
    mons: monNodes.map((_node, index) => letters(index)),
    timings: {
      recoveryPgsPerSecond: pace.recoveryPgsPerSecond,
      downOutIntervalMs: pace.outAfterSeconds * 1_000,
    },
  }
}

function buildBuckets(
  osds: readonly OsdPlace[],
  at: { readonly depth: number; readonly deviceClass: string },
): CrushDescription[] {
  const { depth, deviceClass } = at
  const type = bucketTypes[depth]
  if (type === undefined) return []
  const below = { depth: depth + 1, deviceClass }
  const groups = new Map<string | undefined, OsdPlace[]>()
  for (const osd of osds) {
    const name = osd.location[type]
    groups.set(name, [...(groups.get(name) ?? []), osd])
  }
  return [...groups].flatMap(([name, inside]): CrushDescription[] => {
    // Nodes without a rack hang in their zone.
    if (name === undefined) return buildBuckets(inside, below)
    if (type === 'host') return [{ type, name, osds: inside.map(({ id }) => ({ id, deviceClass })) }]
    return [{ type, name, children: buildBuckets(inside, below) }]
  })
}

function buildPool({ name, kind, size, minSize, dataChunks, failureDomain, pgs }: RadosPool): PoolDescription {
  const chunks = dataChunks === undefined ? {} : { k: dataChunks, m: size - dataChunks }
  return { name, kind, size, minSize, failureDomain, pgCount: pgs, ...chunks }
}
