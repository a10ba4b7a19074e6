import { type CommandTable, errno, failed, texts } from './answer-parts.ts'
import type { CephAnswer, CephCommand } from './ceph-commands.ts'
import type { CephState } from './ceph-state.ts'
import type { PlacementGroup } from './placement-group.ts'

/** `osd pg-upmap-items` and `osd rm-pg-upmap-items`, by which the balancer moves single placement groups. */
export function upmapCommands({ map, groups }: Pick<CephState, 'map' | 'groups'>): CommandTable {
  function withGroup(command: CephCommand, change: (group: PlacementGroup) => CephAnswer): CephAnswer {
    const [id = ''] = texts(command['pgid'])
    const group = groups.list.find((each) => each.id === id)
    return group === undefined ? failed(errno.noEntry, `pg '${id}' does not exist`) : change(group)
  }

  function set(command: CephCommand): CephAnswer {
    return withGroup(command, (group) => {
      const osds = texts(command['id']).map(Number)
      if (osds.length === 0 || osds.length % 2 > 0)
        return failed(errno.invalid, 'you must specify pairs of OSDs: one, and the one in its place')
      const unknown = osds.find((osd) => !map.osds.has(osd))
      if (unknown !== undefined) return failed(errno.noEntry, `osd.${unknown} does not exist`)
      const pairs = osds.flatMap((from, place) => (place % 2 === 0 ? [{ from, to: osds[place + 1] as number }] : []))
      map.bump()
      groups.setUpmap(group, pairs)
      return { code: 0, out: '', err: `set ${group.id} pg_upmap_items mapping` }
    })
  }

  function remove(command: CephCommand): CephAnswer {
    return withGroup(command, (group) => {
      map.bump()
      groups.setUpmap(group, undefined)
      return { code: 0, out: '', err: `clear ${group.id} pg_upmap_items mapping` }
    })
  }

  return { 'osd pg-upmap-items': set, 'osd rm-pg-upmap-items': remove }
}
