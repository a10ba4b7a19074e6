import type { CephParts } from '../parts/parts.ts'
import type { CephLayout } from './lay-out-ceph.ts'
import type { Tools } from './tools.ts'

export interface OsdMaking {
  readonly id: number
  readonly uuid: string
  readonly layout: Pick<CephLayout, 'conf' | 'monmap'>
  readonly parts: CephParts
  readonly tools: Tools
}

/** Makes the empty store of an OSD. */
export function makeOsd({ id, uuid, layout, parts, tools }: OsdMaking): Promise<string> {
  const { conf, monmap } = layout
  const what = ['--mkfs', '--osd-uuid', uuid, '--no-mon-config', '--monmap', monmap]
  // Checking a store that was made a moment ago would take most of the time.
  const quick = ['--bluestore_fsck_on_mkfs=false', '--bdev_aio_poll_ms=5']
  return tools.run(parts.command('ceph-osd', '-c', conf, '-i', String(id), ...what, ...quick))
}
