import type { CrushDescription, OsdDescription, PoolDescription } from './ceph-description.ts'
import { crushTypes } from './crush-types.ts'

export interface CrushItem {
  /** Negative for buckets, the OSD's number otherwise. */
  readonly id: number
  readonly name: string
  readonly type: string
  readonly typeId: number
  readonly depth: number
  readonly parent: CrushItem | undefined
  /** Device class of an OSD. */
  readonly deviceClass: string | undefined
  readonly children: readonly CrushItem[]
  /** All OSDs below (or the OSD itself), ascending. */
  readonly osds: readonly number[]
  /** In TiB, by device class; under '' all classes together. */
  readonly weights: ReadonlyMap<string, number>
}

export interface CrushRule {
  readonly id: number
  readonly name: string
  readonly kind: 'replicated' | 'erasure'
  readonly failureDomain: string
  readonly deviceClass: string | undefined
}

export interface CrushTree {
  readonly root: CrushItem
  /** In the order of a walk from the root. */
  readonly items: readonly CrushItem[]
  readonly byId: ReadonlyMap<number, CrushItem>
  readonly byName: ReadonlyMap<string, CrushItem>
  /** Ascending. */
  readonly osdIds: readonly number[]
  readonly deviceClasses: readonly string[]
  readonly rules: readonly CrushRule[]
}

/**
 * Buckets that an earlier tree has keep the numbers they have there, for straws are drawn by number; rules that were made by command stay.
 */
export function buildCrushTree(
  description: CrushDescription,
  pools: readonly PoolDescription[],
  earlier?: CrushTree,
): CrushTree {
  let nextId = Math.min(0, ...(earlier?.items.map(({ id }) => id) ?? [])) - 1
  const items: CrushItem[] = []

  function addOsd({ id, weight = 1, deviceClass = 'ssd' }: OsdDescription, parent: CrushItem): CrushItem {
    const weights = new Map([
      ['', weight],
      [deviceClass, weight],
    ])
    const name = `osd.${id}`
    const depth = parent.depth + 1
    const osd = { id, name, type: 'osd', typeId: 0, depth, parent, deviceClass, children: [], osds: [id], weights }
    items.push(osd)
    return osd
  }

  function addBucket({ type, name, children = [], osds = [] }: CrushDescription, parent?: CrushItem): CrushItem {
    const own: CrushItem[] = []
    const below: number[] = []
    const weights = new Map([['', 0]])
    const bucket: CrushItem = {
      id: earlier?.byName.get(name)?.id ?? nextId--,
      name,
      type,
      typeId: typeIdOf(type),
      depth: parent === undefined ? 0 : parent.depth + 1,
      parent,
      deviceClass: undefined,
      children: own,
      osds: below,
      weights,
    }
    items.push(bucket)
    for (const child of children) own.push(addBucket(child, bucket))
    for (const osd of osds) own.push(addOsd(osd, bucket))
    for (const child of own) {
      below.push(...child.osds)
      for (const [kind, weight] of child.weights) weights.set(kind, (weights.get(kind) ?? 0) + weight)
    }
    below.sort((a, b) => a - b)
    return bucket
  }

  const root = addBucket(description)
  return {
    root,
    items,
    byId: new Map(items.map((item) => [item.id, item])),
    byName: new Map(items.map((item) => [item.name, item])),
    osdIds: root.osds,
    deviceClasses: [...root.weights.keys()].filter((name) => name !== '').sort(),
    rules: [...buildRules(pools), ...(earlier?.rules.slice(pools.length + 1) ?? [])],
  }
}

export function typeIdOf(type: string): number {
  const id = crushTypes.indexOf(type)
  if (id < 0) throw new RangeError(`CRUSH has no type "${type}"; there are ${crushTypes.join(', ')}`)
  return id
}

/** The buckets that hold an item, the nearest first. */
export function* ancestorsOf(item: CrushItem): Generator<CrushItem> {
  for (let at = item.parent; at !== undefined; at = at.parent) yield at
}

/** A cluster has `replicated_rule` from its first day; each pool brings a rule of its own, as Rook makes them. */
function buildRules(pools: readonly PoolDescription[]): CrushRule[] {
  const first: CrushRule = {
    id: 0,
    name: 'replicated_rule',
    kind: 'replicated',
    failureDomain: 'host',
    deviceClass: undefined,
  }
  return [
    first,
    ...pools.map(({ name, kind, failureDomain, deviceClass }, index) => {
      typeIdOf(failureDomain)
      return { id: index + 1, name, kind, failureDomain, deviceClass }
    }),
  ]
}
