import { type AskOptions, askCeph } from '../../../ceph/ask-ceph.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import { countAt, listAt, objectAt, observeShape, textAt } from '../../../ceph/json-shape.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { OsdUuids } from '../domain/growth-snapshot.ts'

/** Every OSD that Ceph knows, whether it ever ran or not, and the UUID that is on its disk. */
export function observeOsdUuids(commands: CephCommands, options: AskOptions = {}): Promise<Observed<OsdUuids>> {
  return askCeph(commands, { prefix: 'osd dump' }, parseOsdUuids, options)
}

/** Fails closed: an OSD that cannot be read makes all of it unknown. */
export function parseOsdUuids(json: unknown): Observed<OsdUuids> {
  return observeShape('osd dump', () => {
    const dump = objectAt(json, 'osd dump')
    const osds = listAt(dump['osds'], 'osds').map((value, index): [number, string] => {
      const osd = objectAt(value, `osds[${index}]`)
      return [countAt(osd['osd'], `osds[${index}].osd`), textAt(osd['uuid'], `osds[${index}].uuid`)]
    })
    return { fsid: textAt(dump['fsid'], 'fsid'), uuids: new Map(osds) }
  })
}
