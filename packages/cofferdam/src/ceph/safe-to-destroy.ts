import { known, type Observed, unknown } from '../shared/observed.ts'
import { type AskOptions, askCeph } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'
import { countAt, listAt, objectAt, observeShape } from './json-shape.ts'

const command = 'osd safe-to-destroy'

/**
 * Of these OSDs those whose disks may be thrown away without making any data less safe, by Ceph's own word.
 *
 * Fails closed: Ceph calls an OSD safe that it does not know, so only ask about those in its map; one that stands in two lists,
 * or that nobody asked about, makes the answer unknown.
 */
export async function askSafeToDestroy(
  commands: CephCommands,
  ids: readonly number[],
  options: AskOptions = {},
): Promise<Observed<ReadonlySet<number>>> {
  if (ids.length === 0) return unknown(`${command} was asked about no OSD`)
  return askCeph(commands, { prefix: command, ids: ids.map(String) }, (json) => parseSafeToDestroy(json, ids), options)
}

export function parseSafeToDestroy(json: unknown, ids: readonly number[]): Observed<ReadonlySet<number>> {
  const answer = observeShape(command, () => {
    const report = objectAt(json, command)
    const idsAt = (name: string) => listAt(report[name], name).map((id, index) => countAt(id, `${name}[${index}]`))
    const unsafe = [...idsAt('active'), ...idsAt('missing_stats'), ...idsAt('stored_pgs')]
    return { safe: idsAt('safe_to_destroy'), unsafe: new Set(unsafe) }
  })
  if (!answer.known) return answer
  const { safe, unsafe } = answer.value
  const odd = safe.find((id) => unsafe.has(id) || !ids.includes(id))
  if (odd !== undefined) return unknown(`${command} contradicts itself about osd.${odd}`)
  return known(new Set(safe))
}
