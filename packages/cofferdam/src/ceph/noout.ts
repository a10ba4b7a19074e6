import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import type { AskOptions } from './ask-ceph.ts'
import type { CephCommands } from './ceph-commands.ts'

export interface NooutReport {
  /** Buckets on which noout is set now. */
  readonly set: readonly string[]
  /** Buckets on which it is no longer set. */
  readonly unset: readonly string[]
  /** Buckets that CRUSH no longer has: what was to be unset on them went with them. */
  readonly gone: readonly string[]
  readonly failed: readonly NooutFailure[]
}

export interface NooutFailure {
  readonly bucket: string
  readonly wanted: 'set' | 'unset'
  readonly why: string
}

const invalid = 22
/** Both a name that CRUSH does not have and a command that Ceph does not have are invalid; only the texts differ. */
const unknownCommand = /command not known|invalid command/
/** Ceph reads `1`, `01` and `osd.1` as that OSD and these names as every OSD, even where a bucket bears the name. */
const nameOfOsds = /^(?:(?:osd\.)?\d+|all|any|\*)$/

/**
 * Sets and unsets noout on CRUSH buckets, one command for each, so that one bad name never keeps the flag from another.
 *
 * Guarantees: both commands may be repeated; a Ceph that falls silent ends it, and the rest is reported as failed. No flag
 * of an OSD is touched: a bucket that cannot be named to Ceph is reported as failed to be set, and never was set.
 */
export async function applyNoout(
  commands: CephCommands,
  wanted: { readonly set: readonly string[]; readonly unset: readonly string[] },
  options: AskOptions = {},
): Promise<NooutReport> {
  const report = { set: [] as string[], unset: [] as string[], gone: [] as string[], failed: [] as NooutFailure[] }
  const steps = [
    ...wanted.set.map((bucket) => ({ bucket, wanted: 'set' as const })),
    ...wanted.unset.map((bucket) => ({ bucket, wanted: 'unset' as const })),
  ]
  let silence: string | undefined
  for (const step of steps) {
    if (nameOfOsds.test(step.bucket)) {
      if (step.wanted === 'unset') report.unset.push(step.bucket)
      else report.failed.push({ ...step, why: `Ceph takes ${step.bucket} for OSDs: give the bucket another name` })
      continue
    }
    const outcome: Outcome = silence === undefined ? await applyStep(commands, step, options) : { silence }
    if ('silence' in outcome) {
      silence = outcome.silence
      report.failed.push({ ...step, why: silence })
    } else if (outcome.code === 0) report[step.wanted].push(step.bucket)
    else if (isGone(step, outcome)) report.gone.push(step.bucket)
    else report.failed.push({ ...step, why: `${outcome.prefix} ended with ${outcome.code}: ${outcome.err.trim()}` })
  }
  return report
}

/** A flag that was to be set may have been, whatever was answered: it counts as gone only when it was to go. */
function isGone(
  { wanted }: { readonly wanted: 'set' | 'unset' },
  { code, err }: { code: number; err: string },
): boolean {
  return wanted === 'unset' && code === invalid && !unknownCommand.test(err)
}

type Outcome = { readonly silence: string } | { readonly prefix: string; readonly code: number; readonly err: string }

async function applyStep(
  commands: CephCommands,
  step: { readonly bucket: string; readonly wanted: 'set' | 'unset' },
  options: AskOptions,
): Promise<Outcome> {
  const prefix = `osd ${step.wanted}-group`
  try {
    const { code, err } = await commands.run({ prefix, flags: 'noout', who: [step.bucket] }, options)
    return { prefix, code, err }
  } catch (error) {
    if (hasCode(error, 'CEPH_UNREACHABLE')) return { silence: error.message }
    throw error
  }
}
