import { parseArgs } from 'node:util'

export interface MutantArguments {
  readonly rooms: readonly string[]
  readonly changed: boolean
  readonly sample: number | undefined
  readonly seed: number
  readonly wide: boolean
  /** Faults that are written by hand, in all that the product does. */
  readonly planted: boolean
}

export const help = `npm run mutants -- [--room NAME]… [--changed] [--sample N] [--seed K] [--wide]
       npm run mutants -- --planted

Changes one thing at a time in the rooms that judge (every domain/, safety/, ledger/rules/), and runs the tests that
pass it. Prints a score and each change that no test noticed; the exit code is 1 when one of those is not explained
in docs/reference/mutants.md.

  --room NAME   only this room, as in ceph-drain, safety or ledger; may be given more than once
  --changed     only files that differ from the main branch
  --sample N    only N of the changes, drawn by the seed
  --seed K      the seed of the sample, 1 unless it says
  --planted     instead, the faults of test/mutants/planted, each with every test that passes it: all have to be noticed
  --wide        try the tests of controllers, commands and scenarios too: hours, and they notice few more`

/** What was asked for; a text: what is wrong with it, or the help that was asked for. */
export function parseArguments(args: readonly string[]): MutantArguments | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        room: { type: 'string', multiple: true, default: [] },
        changed: { type: 'boolean', default: false },
        sample: { type: 'string' },
        seed: { type: 'string', default: '1' },
        wide: { type: 'boolean', default: false },
        planted: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return help
    const sample = values.sample === undefined ? undefined : Number(values.sample)
    const seed = Number(values.seed)
    if (![sample ?? 1, seed].every((count) => Number.isSafeInteger(count) && count > 0))
      return 'mutants: --sample and --seed take whole numbers above 0'
    const { room: rooms, changed, wide, planted } = values
    if (planted && (rooms.length > 0 || changed || wide || sample !== undefined))
      return 'mutants: --planted tries all that is planted, and takes no other option'
    return { rooms, changed, sample, seed, wide, planted }
  } catch (error) {
    return `mutants: ${(error as Error).message}`
  }
}
