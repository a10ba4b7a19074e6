import type { CrushBucket, CrushMap } from '../safety/ceph-map.ts'
import { crushTypes } from '../safety/crush-types.ts'
import type { Observed } from '../shared/observed.ts'
import { countAt, integerAt, listAt, objectAt, observeShape, textAt, unexpected } from './json-shape.ts'

export interface OsdTree extends Pick<CrushMap, 'buckets' | 'typeOrder'> {
  /** By OSD, whether the tree calls it up; also those that no bucket has. */
  readonly isUp: ReadonlyMap<number, boolean>
  /** By the number that CRUSH gives to a type of buckets; only those that the tree has, and Ceph's own. */
  readonly typeNames: ReadonlyMap<number, string>
}

/**
 * Reads `osd tree`.
 *
 * Fails closed: a child that the tree does not describe makes all of it unknown. That is how one that is filtered by
 * state looks.
 */
export function parseOsdTree(json: unknown): Observed<OsdTree> {
  return observeShape('osd tree', () => {
    const tree = objectAt(json, 'osd tree')
    const typeNames = new Map(crushTypes.map((name, id) => [id, name]))
    const buckets = new Map<number, CrushBucket>()
    const isUp = new Map<number, boolean>()
    for (const [list, nodes] of Object.entries({ nodes: tree['nodes'], stray: tree['stray'] ?? [] })) {
      listAt(nodes, list).forEach((value, index) => {
        const where = `${list}[${index}]`
        const node = objectAt(value, where)
        const id = integerAt(node['id'], `${where}.id`)
        if (id >= 0) {
          isUp.set(id, textAt(node['status'], `${where}.status`) === 'up')
          return
        }
        const type = textAt(node['type'], `${where}.type`)
        typeNames.set(countAt(node['type_id'], `${where}.type_id`), type)
        const children = listAt(node['children'] ?? [], `${where}.children`)
        buckets.set(id, {
          id,
          name: textAt(node['name'], `${where}.name`),
          type,
          children: children.map((child, at) => integerAt(child, `${where}.children[${at}]`)),
        })
      })
    }
    for (const { name, children } of buckets.values()) {
      const absent = children.find((child) => !(child < 0 ? buckets.has(child) : isUp.has(child)))
      if (absent !== undefined) unexpected('nodes', `has no ${absent}, which ${name} contains`)
    }
    const types = [...typeNames].sort(([left], [right]) => left - right)
    return {
      buckets: [...buckets.values()],
      typeOrder: [...new Set(types.map(([, name]) => name))],
      isUp,
      typeNames,
    }
  })
}
