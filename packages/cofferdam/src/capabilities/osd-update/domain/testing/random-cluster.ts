import type { CephMap } from '../../../../safety/ceph-map.ts'
import { type ExamplePool, exampleCluster } from './example-cluster.ts'

const kinds: readonly Pick<ExamplePool, 'kind' | 'size' | 'minSize'>[] = [
  { size: 3, minSize: 2 },
  { size: 3, minSize: 2 },
  { size: 2, minSize: 1 },
  { size: 3, minSize: 1 },
  { size: 4, minSize: 2 },
  { size: 3, minSize: 3 },
  { kind: 'erasure', size: 6, minSize: 5 },
  { kind: 'erasure', size: 5, minSize: 3 },
  { kind: 'erasure', size: 9, minSize: 7 },
]

/** Some cluster: several pools and domains, device classes, perhaps something down, moving or in doubt. */
export function randomCluster(next: () => number): CephMap {
  const below = (limit: number) => Math.floor(next() * limit)
  const hosts = 2 + below(9)
  const osdsPerHost = 1 + below(6)
  const racks = below(3) === 0 ? 2 + below(4) : 0
  const pools = Array.from({ length: 1 + below(3) }, (): ExamplePool => {
    const domains = racks > 0 ? (['osd', 'host', 'rack'] as const) : (['osd', 'host', 'host'] as const)
    const domain = domains[below(domains.length)] as 'osd' | 'host' | 'rack'
    const isHalf = below(3) === 0 && osdsPerHost > 1
    const kind = kinds[below(kinds.length)] as (typeof kinds)[number]
    return { ...kind, domain, pgCount: 1 + below(60), ...(isHalf && { mayUse: (osd: number) => osd % 2 === 0 }) }
  })
  const isTroubled = below(3) === 0
  const down = new Set<number>()
  if (isTroubled) for (let count = below(3); count > 0; count -= 1) down.add(below(hosts * osdsPerHost))
  return exampleCluster(
    {
      hosts,
      osdsPerHost,
      racks,
      pools,
      down,
      ...(isTroubled && { movingShare: next() * 0.1, doubtfulShare: next() * 0.02 }),
    },
    next,
  )
}
