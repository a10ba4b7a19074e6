import type { CephMap } from './ceph-map.ts'

const shownNames = 3

export function placementGroupsHave(count: number): string {
  return count === 1 ? '1 placement group has' : `${count} placement groups have`
}

export function listed(names: readonly string[]): string {
  const { length } = names
  return length > shownNames
    ? `${names.slice(0, shownNames).join(', ')} and ${length - shownNames} more`
    : names.join(', ')
}

export function pgName({ pgs }: CephMap, pg: number): string {
  return `${pgs.poolIds[pg]}.${(pgs.pgNumbers[pg] as number).toString(16)}`
}

export function comparePgs({ pgs }: CephMap, a: number, b: number): number {
  return (
    (pgs.poolIds[a] as number) - (pgs.poolIds[b] as number) ||
    (pgs.pgNumbers[a] as number) - (pgs.pgNumbers[b] as number)
  )
}
