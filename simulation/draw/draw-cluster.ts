import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { between, type ClusterShape, oneOf } from '../story.ts'
import { drawWider } from './draw-wider.ts'

const zones = ['a', 'b', 'c']

/** Counts are from the first number on, and less than the second; the others say how often a cluster has that. */
export interface ClusterMeasure {
  readonly nodes: readonly [number, number]
  readonly apps: readonly [number, number]
  readonly ceph: number
  readonly longhorn: number
  readonly machines: number
  readonly kured: number
}

/**
 * A small cluster: every kind of storage and of machine comes alone, together with others, or not at all. With `wide`, a chance of its
 * own, storage is set up in all the ways that there are, and tools of others are there.
 */
export function drawCluster(random: Random, measure: ClusterMeasure, wide?: Random): ClusterShape {
  const count = between(random, ...measure.nodes)
  const domain = oneOf(random, ['host', 'zone'] as const)
  const nodes = Array.from({ length: count }, (_, index) => `node-${index + 1}`)
  const hasCeph = random.next() < measure.ceph
  const hasLonghorn = random.next() < measure.longhorn
  const hasMachines = random.next() < measure.machines
  const hasKured = random.next() < measure.kured
  const ceph = hasCeph ? drawCeph(random, nodes, domain) : undefined
  const volumes = hasLonghorn ? Array.from({ length: between(random, 1, 4) }, (_, index) => `data-${index}`) : []
  const apps = drawApps(random, count, measure)
  const longhorn = hasLonghorn ? drawLonghorn(random, nodes, volumes) : undefined
  const wider = wide && drawWider(wide, hasKured)
  return {
    file: {
      name: 'simulated',
      zones: zones.map((name) => ({ name })),
      nodes: nodes.map((name, index) => ({ name, zone: zones[index % 3], roles: ['worker'] })),
      apps: [...apps, ...(longhorn?.users ?? [])],
      ...(ceph && { ceph: { ...ceph.file, ...wider?.ceph } }),
      ...(longhorn && { longhorn: { ...longhorn.file, ...wider?.longhorn } }),
      ...(hasMachines && { machines: drawMachines(random) }),
    },
    nodes,
    apps: apps.map(({ name }) => name),
    osds: ceph?.osds ?? [],
    domain,
    volumes,
    hasMachines,
    hasKured,
    ...(wider && { tools: wider.tools }),
  }
}

function drawApps(random: Random, nodes: number, { apps }: ClusterMeasure) {
  const count = between(random, ...apps)
  return Array.from({ length: count }, (_, index) => {
    const replicas = between(random, 2, Math.min(nodes, 4) + 1)
    const stays = random.next() < 0.4
    return {
      name: `app-${index}`,
      namespace: 'shop',
      kind: stays ? 'StatefulSet' : oneOf(random, ['Deployment', 'StatefulSet']),
      replicas,
      spread: 'host',
      skipDrain: stays,
      pdb: random.next() < 0.7 ? { maxUnavailable: 1 } : { minAvailable: replicas - 1 },
    }
  })
}

function drawCeph(random: Random, nodes: readonly string[], domain: 'host' | 'zone') {
  const hosts = nodes.slice(0, between(random, 3, Math.min(nodes.length, 6) + 1))
  const perNode = hosts.length === 3 ? between(random, 1, 3) : 1
  const domains = domain === 'zone' ? 3 : hosts.length
  const withErasure = random.next() < 0.3
  const size = domains > 3 && random.next() < 0.2 ? 4 : 3
  const pools = [
    { name: 'replicapool', failureDomain: domain, replicated: { size, minSize: 2 }, pgs: 16 },
    ...(withErasure ? [erasurePool(domain, domains)] : []),
    { name: '.mgr', failureDomain: domain, replicated: { size: 3, minSize: 2 }, pgs: 1 },
  ]
  return {
    osds: Array.from({ length: hosts.length * perNode }, (_, id) => id),
    file: {
      osds: { perNode, nodes: hosts },
      mons: 3,
      mgrs: 2,
      pools,
      pace: { recoveryPgsPerSecond: between(random, 1, 10), outAfterSeconds: oneOf(random, [60, 300, 600]) },
    },
  }
}

function erasurePool(domain: 'host' | 'zone', domains: number) {
  return {
    name: 'ec-pool',
    failureDomain: domain,
    erasure: { data: 2, coding: domains > 3 ? 2 : 1, minSize: 2 },
    pgs: 8,
  }
}

/** Of the volumes, some are used by a database each, some are attached by somebody who works with them, and some rest. */
function drawLonghorn(random: Random, nodes: readonly string[], names: readonly string[]) {
  const users = names.filter(() => random.next() < 0.4).map((name) => ({ name: `db-of-${name}`, volume: name }))
  const volumes = names.map((name) => {
    const user = users.find(({ volume }) => volume === name)
    const isByHand = random.next() < 0.3
    return {
      name,
      size: '1Gi',
      filled: 0.25,
      replicas: between(random, 1, Math.min(nodes.length, 4)),
      ...(user && { attachedBy: `shop/${user.name}` }),
      ...(user === undefined && isByHand && { attachedTo: oneOf(random, nodes) }),
    }
  })
  const kind = oneOf(random, ['Deployment', 'StatefulSet'] as const)
  return {
    users: users.map(({ name }) => ({ name, namespace: 'shop', kind, replicas: 1 })),
    file: {
      drainPolicy: oneOf(random, [
        'block-if-contains-last-replica',
        'block-for-eviction',
        'block-for-eviction-if-contains-last-replica',
      ]),
      nodes: [...nodes],
      volumes,
      pace: { rebuildPerSecond: '32Mi' },
    },
  }
}

function drawMachines(random: Random) {
  const api = oneOf(random, ['openshift', 'cluster-api'] as const)
  return {
    api,
    volumes: 'follow',
    // Only those of OpenShift ask a budget of machines.
    healthCheck: {
      style: oneOf(random, api === 'openshift' ? ['budget', 'machine', 'node'] : ['machine', 'node']),
      after: oneOf(random, [60, 300]),
    },
    pace: { provisionSeconds: 30, terminateSeconds: 10, rebootSeconds: 30 },
  }
}
