import { type AskOptions, askCeph } from '../../../ceph/ask-ceph.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import { parseOsdDump } from '../../../ceph/parse-osd-dump.ts'
import { askSafeToDestroy } from '../../../ceph/safe-to-destroy.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { LostOsds } from '../domain/decide-removal.ts'

/** Which of these OSDs Ceph has down and out, and which of those it could do without for good. */
export async function observeLostOsds(
  commands: CephCommands,
  ids: readonly number[],
  options: AskOptions = {},
): Promise<Observed<LostOsds>> {
  const dump = await askCeph(commands, { prefix: 'osd dump' }, parseOsdDump, options)
  if (!dump.known) return dump
  const downAndOut = dump.value.osds.filter(({ id, isUp, isIn }) => ids.includes(id) && !isUp && !isIn)
  const lost = downAndOut.map(({ id }) => id)
  if (lost.length === 0) return known({ fsid: dump.value.fsid, downAndOut: new Set(), safe: new Set() })
  const safe = await askSafeToDestroy(commands, lost, options)
  return safe.known ? known({ fsid: dump.value.fsid, downAndOut: new Set(lost), safe: safe.value }) : safe
}
