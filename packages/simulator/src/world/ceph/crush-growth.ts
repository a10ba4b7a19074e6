import type { CephDescription, OsdDescription } from './ceph-description.ts'
import { buildCrushTree, typeIdOf } from './crush-tree.ts'
import { type CrushLocation, growCrush, withoutOsd } from './grow-crush.ts'
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
  /** Puts a new OSD where it belongs, and one that was moved back to its host; true when the CRUSH map has changed. */
  locate(osd: number): boolean
  /** Its disk is in another host: that is where it says it is when it boots next. */
  rehome(osd: number, location: CrushLocation): void
  /** As `osd crush move` does. It lasts until the OSD boots again, which tells the mons where it is. */
  move(osd: number, location: CrushLocation): void
}

/** New OSDs report their place and size when they first boot; until then the CRUSH map does not know them. */
export function createCrushGrowth(
  map: OsdMap,
  { crush, pools }: Pick<CephDescription, 'crush' | 'pools'>,
): CrushGrowth {
  /** Where an OSD belongs when it boots next. */
  const unplaced = new Map<number, { readonly osd: OsdDescription; readonly location: CrushLocation }>()
  let present = crush
  const put = (osd: OsdDescription, location: CrushLocation) => {
    present = growCrush(present, osd, location)
    map.replaceTree(buildCrushTree(present, pools, map.tree))
  }
  const describe = (id: number): OsdDescription | undefined => {
    const item = map.tree.byId.get(id)
    return item && { id, weight: item.weights.get('') ?? 1, ...(item.deviceClass && { deviceClass: item.deviceClass }) }
  }
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
      present = withoutOsd(present, id)
      put(waiting.osd, waiting.location)
      return true
    },
    rehome(id, location) {
      const osd = describe(id)
      if (osd !== undefined) unplaced.set(id, { osd, location })
    },
    move(id, location) {
      const osd = describe(id)
      const host = map.tree.byId.get(id)?.parent
      if (osd === undefined || host === undefined) return
      // Who is moved twice still comes home to the first place.
      if (!unplaced.has(id)) unplaced.set(id, { osd, location: { [host.type]: host.name } })
      present = withoutOsd(present, id)
      put(osd, location)
    },
  }
}

function lowestFree({ osds }: OsdMap): number {
  let id = 0
  while (osds.has(id)) id += 1
  return id
}
