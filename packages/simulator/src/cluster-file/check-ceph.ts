import type { FailureDomainType, WrittenCeph } from './ceph-schema.ts'
import type { NodeDescription, Problem } from './expand-nodes.ts'
import type { OsdPlace } from './osd-place.ts'
import type { PlacedPool } from './rados-pool.ts'

/** CRUSH takes no dots in the names that Rook gives its buckets. */
export function crushName(name: string): string {
  return name.replaceAll('.', '-')
}

export function checkMons({ mons }: WrittenCeph, nodeCount: number, problems: Problem[]): void {
  const path = 'ceph.mons'
  if (mons > nodeCount) {
    const there = nodeCount === 1 ? 'there is one' : `there are ${nodeCount}`
    problems.push({ path, says: `${mons} mons need a node each, and ${there} without a taint` })
  } else if (mons % 2 === 0) {
    problems.push({ path, says: `${mons} mons stand no more losses than ${mons - 1} do; use an odd number` })
  }
}

/** One tree of names: CRUSH cannot hold a zone and a host, or two racks, that are called the same. */
export function checkBucketNames(hosts: readonly NodeDescription[], problems: Problem[]): void {
  const taken = new Map<string, string>([['default', 'the root']])
  for (const { name, zone, rack } of hosts) {
    const buckets = [
      { called: zone, is: `zone ${zone}` },
      ...(rack === undefined ? [] : [{ called: rack, is: `rack ${rack} of zone ${zone}` }]),
      { called: name, is: `node ${name}` },
    ]
    for (const { called, is } of buckets) {
      const before = taken.get(crushName(called))
      if (before === undefined) taken.set(crushName(called), is)
      else if (before !== is) {
        const says = `${is} and ${before} would both be the CRUSH bucket "${crushName(called)}"; rename one of them`
        if (!problems.some((problem) => problem.says === says)) problems.push({ path: 'ceph', says })
      }
    }
  }
}

export function checkDomains(placed: readonly PlacedPool[], osds: readonly OsdPlace[], problems: Problem[]): void {
  if (osds.length === 0) return
  const reported = new Set<string>()
  for (const { path, pool } of placed) {
    const { kind, size, failureDomain } = pool
    const domains = domainsOf(osds, failureDomain)
    if (domains.length >= size || reported.has(path)) continue
    reported.add(path)
    const parts = kind === 'replicated' ? 'copies' : 'chunks'
    const there = domains.length === 0 ? 'is none' : `are ${domains.length} (${domains.join(', ')})`
    const says = `${size} ${parts} need ${size} failure domains of type ${failureDomain} with OSDs, and there ${there}`
    problems.push({ path: `${path}.failureDomain`, says })
  }
}

function domainsOf(osds: readonly OsdPlace[], type: FailureDomainType): string[] {
  if (type === 'osd') return osds.map(({ id }) => `osd.${id}`)
  const names = osds.flatMap(({ location }) => location[type] ?? [])
  return [...new Set(names)]
}

export function checkPoolNames({ pools }: WrittenCeph, owned: readonly PlacedPool[], problems: Problem[]): void {
  for (const [index, { name }] of pools.entries()) {
    const path = `ceph.pools[${index}].name`
    const first = pools.findIndex((other) => other.name === name)
    const owner = owned.find(({ pool }) => pool.name === name)
    if (first !== index) problems.push({ path, says: `"${name}" is already the name of ceph.pools[${first}]` })
    else if (owner !== undefined) problems.push({ path, says: `"${name}" is already a pool of ${owner.path}` })
  }
}

export function checkNames(ceph: WrittenCeph, problems: Problem[]): void {
  for (const section of ['filesystems', 'objectStores', 'nfs', 'nvmeof'] as const) {
    const entries: readonly { readonly name: string }[] = ceph[section]
    for (const [index, { name }] of entries.entries()) {
      const first = entries.findIndex((other) => other.name === name)
      if (first === index) continue
      const says = `"${name}" is already the name of ceph.${section}[${first}]`
      problems.push({ path: `ceph.${section}[${index}].name`, says })
    }
  }
}
