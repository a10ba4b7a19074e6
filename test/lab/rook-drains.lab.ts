import { afterEach, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'
import { type CrashStory, crashStory } from './rook/crash-story.ts'
import { type DrainStory, drainStory } from './rook/drain-story.ts'
import { drainTable, type Measured, median } from './rook/drain-table.ts'
import { startRookDisruption } from './rook/start-rook-disruption.ts'

/** How often each of the two is measured; from `COFFERDAM_LAB_ROUNDS=3` on with a power cut. */
const rounds = Number(process.env['COFFERDAM_LAB_ROUNDS'] ?? '1')
const isLong = rounds >= 3
/** How far the stalls of two runs of the same thing lie apart; a single one may fall into a moment in which the machine is busy. */
const grainSeconds = isLong ? 0.5 : 2
const timesFaster = 5

const whose = { Rook: startRookDisruption, Cofferdam: (lab: Lab) => lab.installOperator() }
type Who = keyof typeof whose
const measured = new Map<Who, Measured>()

let lab: Lab | undefined
afterEach(async () => {
  await lab?.close()
  lab = undefined
})

it.each(Object.keys(whose) as Who[])(
  'two racks are drained at once beside %s',
  { timeout: rounds * 600_000 },
  async (who) => {
    lab = await openLab(`rook-drains-${who.toLowerCase()}`)
    await whose[who](lab)
    const drains: DrainStory[] = []
    const crashes: CrashStory[] = []
    for (let round = 1; round <= rounds; round += 1) {
      lab.chapter(`Round ${round}: two racks, two drains, ${who} alone`)
      drains.push(await drainStory(lab))
      await lab.ceph.untilClean()
    }
    if (isLong) {
      lab.chapter(`A power cut, ${who} alone`)
      crashes.push(await crashStory(lab))
    }
    const { violations } = lab.oracle
    measured.set(who, { drains, crashes, violations: [...violations] })
    expect(drains.flatMap(({ faults }) => faults)).toEqual([])
    if (who === 'Rook') return
    expect(violations).toEqual([])
    expect(drains.map(({ ended }) => ended)).toEqual(drains.map(() => 2))
  },
)

it('Cofferdam blocks the other racks sooner than Rook, and clients wait no longer', () => {
  const [rook, cofferdam] = [measured.get('Rook'), measured.get('Cofferdam')]
  if (rook === undefined || cofferdam === undefined) throw new Error('there is nothing to compare')
  const knob = isLong ? `COFFERDAM_LAB_ROUNDS=${rounds} ` : ''
  console.log(`\n${drainTable(`${knob}npm run test:lab -- rook-drains`, rook, cofferdam)}\n`)
  const stall = ({ drains }: Measured) => Math.max(...drains.map(({ longestStall }) => longestStall))
  const blocked = ({ drains }: Measured) => median(drains.map(({ blockedAfter }) => blockedAfter))
  expect(stall(cofferdam)).toBeLessThanOrEqual(stall(rook) + grainSeconds)
  expect(blocked(cofferdam) * timesFaster).toBeLessThan(blocked(rook))
})
