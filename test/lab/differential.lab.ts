import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ControlPlane } from './control-plane/control-plane.ts'
import { startControlPlane } from './control-plane/start-control-plane.ts'
import { openEmbeddedSide } from './differential/embedded-side.ts'
import { Explorer, families } from './differential/explore.ts'
import { installGauges } from './differential/kinds/gauge.ts'
import { knownDifferences } from './differential/known-differences.ts'
import { openRealSide } from './differential/real-side.ts'
import { rules, ruleVerdict } from './differential/rule-verdicts.ts'
import type { Pair } from './differential/run-sequence.ts'
import { tellDivergence } from './differential/scenario.ts'
import type { Side } from './differential/side.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import { type Journal, openJournal } from './processes/journal.ts'
import { type LabFolder, openLabFolder } from './processes/lab-folder.ts'

/** How many rounds of stories; more of them explore further. */
const rounds = Number(process.env['COFFERDAM_LAB_DIFFERENTIAL'] ?? 3)
const wanted = process.env['COFFERDAM_SEED'] ?? '1'
const firstSeed = wanted === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(wanted)
/** From so many rounds on, a listed difference that never showed is one that is gone. */
const longRun = 20

let folder: LabFolder
let journal: Journal
let plane: ControlPlane
let sides: Pair<Side>
let explorer: Explorer
let sequences = 0
let compared = 0

beforeAll(async () => {
  const parts = await findKubernetes((line) => console.error(line))
  folder = await openLabFolder('differential')
  journal = openJournal(join(folder.logs, 'journal.log'))
  const controllers = ['disruption-controller', 'serviceaccount-controller']
  plane = await startControlPlane({ parts, folder, journal, controllers })
  // Nobody here places pods; a scheduler would note on each that it cannot.
  await plane.daemons.scheduler.stop()
  const { kubeconfig, daemons } = plane
  sides = {
    real: await openRealSide({ kubeconfig, controllerManager: daemons.controllerManager }),
    embedded: await openEmbeddedSide(),
  }
  await Promise.all([installGauges(sides.real), installGauges(sides.embedded)])
  explorer = new Explorer(sides, 'story')
})

afterAll(async () => {
  await sides?.real.close()
  await sides?.embedded.close()
  await plane?.close()
  await folder?.remove()
})

describe(`the embedded server and a real one, asked the same from seed ${firstSeed}`, () => {
  for (const [name, { share, generate }] of Object.entries(families)) {
    it(`answer alike about ${name}`, { timeout: 60_000 * Math.max(1, rounds) }, async () => {
      const seeds = Array.from({ length: share * rounds }, (_, index) => firstSeed + index)
      const result = await explorer.explore(generate, seeds)
      sequences += result.sequences
      compared += result.compared
      const told = result.divergences.map(tellDivergence)
      journal.tell('differential', [`${name}: ${result.sequences} sequences`, ...told].join('\n'))
      if (told.length > 0) expect.fail(told.join('\n\n'))
      expect(result.compared).toBeGreaterThan(0)
    })
  }

  it('take and refuse the same rules in CEL', async () => {
    const verdicts = (side: Side) => Promise.all(rules.map(async (rule) => `${await ruleVerdict(side, rule)} ${rule}`))
    expect(await verdicts(sides.embedded)).toEqual(await verdicts(sides.real))
  })

  it('differ only in what is listed, and all that is listed still differs', () => {
    const gone = knownDifferences.filter((known) => !explorer.seen.has(known)).map(({ says }) => says)
    console.log(`${sequences} sequences, ${compared} answers compared`)
    if (rounds >= longRun) expect(gone).toEqual([])
    else for (const says of gone) console.log(`not seen this time: ${says}`)
  })
})
