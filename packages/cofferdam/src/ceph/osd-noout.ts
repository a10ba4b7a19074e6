import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import type { AskOptions } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'

export interface OsdNooutWanted {
  readonly set: readonly number[]
  readonly unset: readonly number[]
}

/** `noout could not be unset on osd.3: …`, one for each command that failed. */
export type OsdNooutFailures = readonly string[]

const invalid = 22

/**
 * Sets and unsets noout on single OSDs, all of one kind with one command: whoever stops a hundred does not wait for a hundred answers.
 *
 * Guarantees: both may be repeated; flags of CRUSH buckets are not touched. Ceph refuses the whole list for one OSD that it does not
 * have any more: then each is asked for alone, and an OSD that is gone is no failure.
 */
export async function applyOsdNoout(
  commands: CephCommands,
  { set, unset }: OsdNooutWanted,
  options: AskOptions = {},
): Promise<OsdNooutFailures> {
  return [...(await apply(commands, 'set', set, options)), ...(await apply(commands, 'unset', unset, options))]
}

async function apply(
  commands: CephCommands,
  wanted: 'set' | 'unset',
  osds: readonly number[],
  options: AskOptions,
): Promise<string[]> {
  if (osds.length === 0) return []
  const names = osds.map((osd) => `osd.${osd}`)
  try {
    const { code, err } = await commands.run({ prefix: `osd ${wanted}-group`, flags: 'noout', who: names }, options)
    if (code === 0) return []
    if (code === invalid && osds.length > 1) {
      const failures: string[] = []
      for (const osd of osds) failures.push(...(await apply(commands, wanted, [osd], options)))
      return failures
    }
    return code === invalid ? [] : [`noout could not be ${wanted} on ${names.join(', ')}: ${err.trim()}`]
  } catch (error) {
    if (!hasCode(error, 'CEPH_UNREACHABLE')) throw error
    return [`noout could not be ${wanted} on ${names.join(', ')}: ${error.message}`]
  }
}
