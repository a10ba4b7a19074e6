import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AskedBoth, askBoth } from './longhorn/ask-both.ts'
import { type LonghornOracle, startLonghornOracle } from './longhorn/ask-longhorn.ts'
import { differenceTable, unusedDifferences } from './longhorn/difference-table.ts'
import { findLonghorn } from './parts/find-longhorn.ts'

const states = Number(process.env['COFFERDAM_LAB_STATES'] ?? 20_000)
const wanted = process.env['COFFERDAM_SEED'] ?? '1'
const seed = wanted === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(wanted)
/** From so many states on, a listed difference that never showed is one that is gone. */
const longRun = 20_000

let oracle: LonghornOracle
let version: string
beforeAll(async () => {
  const parts = await findLonghorn((line) => console.error(line))
  oracle = startLonghornOracle(parts.oracle)
  version = parts.version
})
afterAll(() => oracle?.close())

describe(`Longhorn's own code and ours, asked about ${states} random states from seed ${seed}`, () => {
  let result: AskedBoth
  beforeAll(
    async () => {
      result = await askBoth({ oracle, seed, states })
      console.log(`Longhorn ${version}, seed ${seed}\n\n${differenceTable(result)}`)
    },
    600_000 + states * 20,
  )

  it('never does Longhorn hold a node that we let go, and never does it let go of one that we leave to it', () => {
    expect(result.forbidden.slice(0, 3).join('\n\n')).toBe('')
  })

  it('every other difference has a cause that is listed: without it Longhorn and we agree', () => {
    expect(result.unexplained.slice(0, 3).join('\n\n')).toBe('')
  })

  it('every cause on the list was met, so that the list claims nothing that has gone', () => {
    const unused = unusedDifferences(result).map(({ name }) => name)
    if (states >= longRun) expect(unused).toEqual([])
    else for (const name of unused) console.log(`not met this time: ${name}`)
  })
})
