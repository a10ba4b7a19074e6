import type { Observed } from '../shared/observed.ts'
import { type AskOptions, askCeph } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { countAt, listAt, objectAt, observeShape } from './json-shape.ts'

/** By OSD: what it ran when it last booted, as in `20.2.4-17-gd2e5a10`. One that never booted is left out. */
export function observeOsdVersions(
  commands: CephCommands,
  options: AskOptions = {},
): Promise<Observed<ReadonlyMap<number, string>>> {
  return askCeph(commands, { prefix: 'osd metadata' }, parseOsdVersions, options)
}

function parseOsdVersions(json: unknown): Observed<ReadonlyMap<number, string>> {
  return observeShape('osd metadata', () => {
    const versions = new Map<number, string>()
    listAt(json, 'osd metadata').forEach((value, index) => {
      const where = `osd metadata[${index}]`
      const osd = objectAt(value, where)
      const version = osd['ceph_version_short']
      if (typeof version === 'string' && version !== '') versions.set(countAt(osd['id'], `${where}.id`), version)
    })
    return versions
  })
}
