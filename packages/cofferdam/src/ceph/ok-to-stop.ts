import { type Observed, unknown } from '../shared/observed.ts'
import { type AskOptions, withoutSilence } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { parseOkToStop, parseStoppable } from './parse-ok-to-stop.ts'

/**
 * Ceph's ok-to-stop check of these OSDs together: a second check only, since it answers from statistics that lag
 * behind the map, and wrongly on some releases.
 */
export async function askOkToStop(
  commands: CephCommands,
  ids: readonly number[],
  { ignoredPools = [], ...options }: AskOptions & { readonly ignoredPools?: readonly number[] } = {},
): Promise<Observed<boolean>> {
  if (ids.length === 0) return unknown('osd ok-to-stop was asked about no OSD')
  return withoutSilence(async () => {
    const answer = await commands.run({ prefix: 'osd ok-to-stop', ids: ids.map(String) }, options)
    return parseOkToStop(answer, ids, new Set(ignoredPools))
  })
}

/** Which OSDs Ceph would let stop together with this one, as far as it finds them near by: none when not even that one may. */
export async function askStoppable(
  commands: CephCommands,
  osd: number,
  { max, ...options }: AskOptions & { readonly max: number },
): Promise<Observed<readonly number[]>> {
  return withoutSilence(async () => {
    const answer = await commands.run({ prefix: 'osd ok-to-stop', ids: [String(osd)], max }, options)
    return parseStoppable(answer, [osd])
  })
}
