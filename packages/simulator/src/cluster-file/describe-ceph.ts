import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import type { WrittenCeph, WrittenPool } from './ceph-schema.ts'
import { checkBucketNames, checkDomains, checkMons, checkNames, checkPoolNames, crushName } from './check-ceph.ts'
import type { NodeDescription, Problem } from './expand-nodes.ts'
import type { OsdPlace } from './osd-place.ts'
import type { PlacedPool, RadosPool } from './rados-pool.ts'

/** A Rook-Ceph cluster with every place filled in: what its objects and its simulated daemons are made from. */
export interface CephClusterDescription extends Omit<WrittenCeph, 'osds' | 'mons' | 'pools'> {
  readonly deviceClass: string
  readonly osds: readonly OsdPlace[]
  /** The node of each mon: a, b, c ... */
  readonly monNodes: readonly string[]
  /** As described; `rados` holds those and the ones that filesystems and object stores bring along. */
  readonly pools: readonly RadosPool[]
  readonly rados: readonly RadosPool[]
}

/** Fills in the places of a `ceph` section. Problems are added to the list; the description then means nothing. */
export function describeCeph(
  ceph: WrittenCeph,
  nodes: readonly NodeDescription[],
  problems: Problem[],
): CephClusterDescription {
  const usable = nodes.filter(({ taints }) => !taints.some(({ effect }) => effect !== 'PreferNoSchedule'))
  const hosts = osdHosts(ceph, { nodes, usable, problems })
  checkBucketNames(hosts, problems)
  checkMons(ceph, usable.length, problems)

  const osds = hosts.flatMap((node) => Array.from({ length: ceph.osds.perNode }, () => node)).map(placeOsd)
  const pools = ceph.pools.map((pool, index) => describePool(pool, `ceph.pools[${index}]`, problems))
  const owned = [...filesystemPools(ceph), ...objectStorePools(ceph)]
  const placed = [...pools.map((pool, index) => ({ path: `ceph.pools[${index}]`, pool })), ...owned]
  checkDomains(placed, osds, problems)
  checkPoolNames(ceph, owned, problems)
  checkNames(ceph, problems)

  const { osds: written, mons, ...rest } = ceph
  return {
    ...rest,
    deviceClass: written.deviceClass,
    osds,
    monNodes: spreadOverZones(usable)
      .slice(0, mons)
      .map(({ name }) => name),
    pools,
    rados: [...pools, ...owned.map(({ pool }) => pool)],
  }
}

interface Surroundings {
  readonly nodes: readonly NodeDescription[]
  readonly usable: readonly NodeDescription[]
  readonly problems: Problem[]
}

function osdHosts({ osds }: WrittenCeph, { nodes, usable, problems }: Surroundings): readonly NodeDescription[] {
  if (osds.nodes === undefined) {
    if (usable.length === 0) {
      problems.push({ path: 'ceph.osds', says: 'every node has a taint; name those that carry OSDs in nodes' })
    }
    return usable
  }
  return osds.nodes.flatMap((name, index) => {
    const path = `ceph.osds.nodes[${index}]`
    const node = nodes.find((candidate) => candidate.name === name)
    if (node === undefined) {
      const names = nodes.map((candidate) => candidate.name)
      const near = closestName(name, names)
      const advice = near === undefined ? `; known: ${names.join(', ')}` : `; did you mean "${near}"?`
      problems.push({ path, says: `"${name}" is not a node${advice}` })
    } else if (!usable.includes(node)) {
      problems.push({ path, says: `"${name}" has a taint that keeps its OSDs away` })
    } else if (osds.nodes?.indexOf(name) !== index) {
      problems.push({ path, says: `"${name}" is named twice; perNode says how many OSDs it carries` })
      return []
    }
    return node ?? []
  })
}

function placeOsd({ name, zone, rack }: NodeDescription, id: number): OsdPlace {
  return {
    id,
    node: name,
    location: {
      root: 'default',
      zone: crushName(zone),
      ...(rack === undefined ? {} : { rack: crushName(rack) }),
      host: crushName(name),
    },
  }
}

function describePool(pool: WrittenPool, path: string, problems: Problem[]): RadosPool {
  const { replicated, erasure } = pool
  const common = { name: pool.name, failureDomain: pool.failureDomain, pgs: pool.pgs, hasResource: !pool.toolbox }
  if (replicated !== undefined && erasure !== undefined) {
    problems.push({ path, says: 'is both replicated and erasure; keep one of them' })
  }
  if (erasure === undefined) {
    const size = replicated?.size ?? 3
    const minSize = replicated?.minSize ?? size - Math.floor(size / 2)
    if (minSize > size) {
      problems.push({ path: `${path}.replicated.minSize`, says: `${minSize} is more than the size, ${size}` })
    }
    return { ...common, kind: 'replicated', size, minSize }
  }
  const { data, coding } = erasure
  const size = data + coding
  // Ceph's own default: one more than the data can be read from, where the coding chunks allow it.
  const minSize = erasure.minSize ?? data + Math.min(1, coding - 1)
  if (minSize < data || minSize > size) {
    const says = `must be from ${data} (the data chunks) to ${size} (all chunks), not ${minSize}`
    problems.push({ path: `${path}.erasure.minSize`, says })
  }
  return { ...common, kind: 'erasure', size, minSize, dataChunks: data }
}

function filesystemPools({ filesystems }: WrittenCeph): PlacedPool[] {
  return filesystems.flatMap(({ name, size, failureDomain, pgs }, index) =>
    [`${name}-metadata`, `${name}-replicated`].map((pool) => ({
      path: `ceph.filesystems[${index}]`,
      pool: replicatedPool({ name: pool, size, failureDomain, pgs }),
    })),
  )
}

function objectStorePools({ objectStores }: WrittenCeph): PlacedPool[] {
  return objectStores.flatMap(({ name, size, failureDomain, pgs }, index) =>
    [...(index === 0 ? ['.rgw.root'] : []), `${name}.rgw.buckets.index`, `${name}.rgw.buckets.data`].map((pool) => ({
      path: `ceph.objectStores[${index}]`,
      pool: replicatedPool({ name: pool, size, failureDomain, pgs }),
    })),
  )
}

function replicatedPool(pool: Omit<RadosPool, 'kind' | 'minSize' | 'hasResource'>): RadosPool {
  return { ...pool, hasResource: true, kind: 'replicated', minSize: pool.size - Math.floor(pool.size / 2) }
}

/** First one of every zone, then a second of every zone ... so that mons stand as far apart as they can. */
function spreadOverZones(nodes: readonly NodeDescription[]): readonly NodeDescription[] {
  const turn = new Map<NodeDescription, number>()
  const seen = new Map<string, number>()
  for (const node of nodes) {
    const count = seen.get(node.zone) ?? 0
    turn.set(node, count)
    seen.set(node.zone, count + 1)
  }
  return [...nodes].sort((a, b) => (turn.get(a) ?? 0) - (turn.get(b) ?? 0))
}
