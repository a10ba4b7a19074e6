import type { Observed } from '../shared/observed.ts'
import { type AskOptions, askCeph } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { parseOsdMetadata } from './parse-osd-metadata.ts'

/** By OSD: the host on which it last ran, as it reported to Ceph. */
export function observeOsdHosts(
  commands: CephCommands,
  options: AskOptions = {},
): Promise<Observed<ReadonlyMap<number, string>>> {
  return askCeph(commands, { prefix: 'osd metadata' }, parseOsdMetadata, options)
}
