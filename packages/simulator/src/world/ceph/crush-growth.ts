import type { CephDescription, OsdDescription } from './ceph-description.ts'
import { buildCrushTree, typeIdOf } from './crush-tree.ts'
import { type CrushLocation, growCrush } from './grow-crush.ts'
import type { OsdMap } from './osd-map.ts'

export interface NewCephOsd extends Omit<OsdDescription, 'id'> {
  /** Default: the lowest that is free. */
  readonly id?: number
  /** Its host in the CRUSH map. */
  readonly node: string
  /** What is around a host that is not in the CRUSH map yet: `{ zone: 'zone-x' }`. */
  readonly location?: CrushLocation
}

export interface CrushGrowth {
  add(osd: NewCephOsd): number
  /** Puts a new OSD where it belongs, once; true when the CRUSH map has changed. */
  locate(osd: number): boolean
}

/** New OSDs report their place and size when they first boot; until then the CRUSH map does not know them. */
export function createCrushGrowth(
  map: OsdMap,
  { crush, pools }: Pick<CephDescription, 'crush' | 'pools'>,
): CrushGrowth {
  const unplaced = new Map<number, { readonly osd: OsdDescription; readonly location: CrushLocation }>()
  let present = crush
  return {
    add({ node, location = {}, ...given }) {
      for (const type of Object.keys(location)) typeIdOf(type)
      const osd = { ...given, id: given.id ?? lowestFree(map) }
      map.addOsd(osd.id)
      unplaced.set(osd.id, { osd, location: { ...location, host: node } })
      return osd.id
    },
    locate(id) {
      const waiting = unplaced.get(id)
      if (waiting === undefined) return false
      unplaced.delete(id)
      present = growCrush(present, waiting.osd, waiting.location)
      map.replaceTree(buildCrushTree(present, pools, map.tree))
      return true
    },
  }
}

function lowestFree({ osds }: OsdMap): number {
  let id = 0
  while (osds.has(id)) id += 1
  return id
}
