import { parseArgs } from 'node:util'

export interface SimulateArguments {
  readonly seeds: number
  readonly firstSeed: number
  readonly processes: number
  readonly isShort: boolean
  readonly trace: boolean
  readonly twice: boolean
  readonly shrinks: boolean
  readonly json: string | undefined
  /** Where each outcome is noted as soon as it is known, so that the same command goes on where it was ended. */
  readonly journal: string | undefined
}

export const help = `npm run simulate -- [--seeds N] [--first-seed K] [--short] [--processes P] [--own-node] [--trace] [--twice] [--no-shrink] [--json FILE] [--journal FILE]

Plays whole clusters in virtual time, one for each seed: what people do with them, what breaks, the way back to
calm, and a day without a write. The last line counts; the exit code is 1 when a promise was broken.

  --seeds N        how many seeds, 100 unless it says
  --first-seed K   the first of them, 1 unless it says
  --short          small clusters, few deeds: many more of them in the same time; other stories than without it
  --processes P    how many at a time, as many as there are cores unless it says
  --own-node       with the Node.js that runs npm, and not the one of the operator's image
  --trace          print what happened, line by line
  --twice          play each twice, and compare what happened
  --no-shrink      do not look for a shorter way to what is broken
  --json FILE      write all outcomes there
  --journal FILE   note each outcome there as soon as it is known; the same command goes on where it was ended`

/** What was asked for; a text: what is wrong with it, or the help that was asked for. */
export function parseArguments(args: readonly string[], cores: number): SimulateArguments | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seeds: { type: 'string', default: '100' },
        'first-seed': { type: 'string', default: '1' },
        processes: { type: 'string', default: String(cores) },
        short: { type: 'boolean', default: false },
        trace: { type: 'boolean', default: false },
        twice: { type: 'boolean', default: false },
        'no-shrink': { type: 'boolean', default: false },
        json: { type: 'string' },
        journal: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return help
    const [seeds, firstSeed, processes] = [values.seeds, values['first-seed'], values.processes].map(Number)
    if (![seeds, firstSeed, processes].every((count) => Number.isSafeInteger(count) && Number(count) >= 0))
      return 'simulate: --seeds, --first-seed and --processes take whole numbers'
    return {
      seeds: seeds as number,
      firstSeed: firstSeed as number,
      processes: Math.max(1, Math.min(processes as number, seeds as number)),
      isShort: values.short,
      trace: values.trace,
      twice: values.twice,
      shrinks: !values['no-shrink'],
      json: values.json,
      journal: values.journal,
    }
  } catch (error) {
    return `simulate: ${(error as Error).message}`
  }
}
