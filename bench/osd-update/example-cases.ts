import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { RoundProblem } from '@cofferdam/product/capabilities/osd-update/domain/class-limits.ts'
import {
  domainByDomain,
  domainTypesOf,
  unitsByDomain,
} from '@cofferdam/product/capabilities/osd-update/domain/domain-by-domain.ts'
import {
  type ExampleCluster,
  exampleCluster,
} from '@cofferdam/product/capabilities/osd-update/domain/testing/example-cluster.ts'
import type { CephMap } from '@cofferdam/product/safety/ceph-map.ts'
import { buildSlackHypergraph } from '@cofferdam/product/safety/slack-hypergraph.ts'

export interface ExampleCase {
  readonly name: string
  readonly cluster: ExampleCluster
  readonly rounds: number
  /** Of 300,000 PGs: the plan has a goal for time and memory too. */
  readonly isLarge?: true
}

const three = { size: 3, minSize: 2 }
const large = { hosts: 500, osdsPerHost: 20 }
export const largeHost: ExampleCase = {
  name: '10,000 OSDs, 300,000 PGs, host',
  cluster: { ...large, pools: [{ ...three, pgCount: 300_000 }] },
  rounds: 40,
  isLarge: true,
}
export const cases: readonly ExampleCase[] = [
  { name: '3 × 10', cluster: { hosts: 3, osdsPerHost: 10, pools: [{ ...three, pgCount: 1_000 }] }, rounds: 3 },
  { name: '10 × 10', cluster: { hosts: 10, osdsPerHost: 10, pools: [{ ...three, pgCount: 3_333 }] }, rounds: 10 },
  { name: '15 × 20', cluster: { hosts: 15, osdsPerHost: 20, pools: [{ ...three, pgCount: 10_000 }] }, rounds: 15 },
  { name: '50 × 20', cluster: { hosts: 50, osdsPerHost: 20, pools: [{ ...three, pgCount: 33_333 }] }, rounds: 43 },
  largeHost,
  {
    name: 'the same, 50 racks',
    cluster: { ...large, racks: 50, pools: [{ ...three, pgCount: 300_000, domain: 'rack' }] },
    rounds: 40,
    isLarge: true,
  },
  {
    name: 'the same, 10 racks',
    cluster: { ...large, racks: 10, pools: [{ ...three, pgCount: 300_000, domain: 'rack' }] },
    rounds: 10,
    isLarge: true,
  },
  {
    name: '10,000 OSDs, 50 racks and one PG by host',
    cluster: {
      ...large,
      racks: 50,
      pools: [
        { ...three, pgCount: 300_000, domain: 'rack' },
        { ...three, pgCount: 1 },
      ],
    },
    rounds: 40,
  },
  {
    name: '9,960 OSDs, 60 in a host',
    cluster: { hosts: 166, osdsPerHost: 60, pools: [{ ...three, pgCount: 300_000 }] },
    rounds: 40,
  },
  { name: '10,000 OSDs, EC 4+2', cluster: erasure(6, 5, 150_000), rounds: 83 },
  { name: '10,000 OSDs, EC 8+3', cluster: erasure(11, 9, 80_000), rounds: 27 },
  { name: '10,000 OSDs, EC 8+4', cluster: erasure(12, 9, 75_000), rounds: 14 },
]

function erasure(size: number, minSize: number, pgCount: number): ExampleCluster {
  return { ...large, pools: [{ kind: 'erasure', size, minSize, pgCount }] }
}

export function mapOf({ cluster }: ExampleCase): CephMap {
  const random = seededRandom(1)
  return exampleCluster(cluster, () => random.next())
}

export function idsOf(map: CephMap): number[] {
  return map.osds.map(({ id }) => id)
}

function problemOf(map: CephMap, maxParallel: number): RoundProblem {
  const graph = buildSlackHypergraph({ map, targets: idsOf(map) })
  const groupOf = new Int32Array(graph.osds.length).fill(-1)
  return { graph, perClass: maxParallel, perGroup: Number.POSITIVE_INFINITY, groupOf, groupCount: 0 }
}

/** The fewest that any type of the pools' rules gives. */
export function roundsByDomain(map: CephMap, maxParallel: number): number {
  const problem = problemOf(map, maxParallel)
  const counts = domainTypesOf(map).map(
    (type) => domainByDomain(problem, unitsByDomain(map, problem.graph, type)).count,
  )
  return Math.min(...counts)
}
