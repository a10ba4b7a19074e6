import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { intendedWrites } from './intended-writes.ts'

function stage() {
  const clock = new VirtualClock()
  const lines: string[] = []
  const tell = intendedWrites({ info: (facts, says) => lines.push(`${says} ${JSON.stringify(facts)}`) }, clock)
  return { clock, lines, tell }
}

const update = (name: string) => ({ verb: 'update', resource: 'configmaps', namespace: 'rook-ceph', name })

it('an intention that comes back in every pass is told once, not thousands of times', async () => {
  const { clock, lines, tell } = stage()
  for (let pass = 0; pass < 5_000; pass += 1) {
    tell(update('record'), 'would write')
    await clock.advance(100)
  }
  expect(lines).toEqual([`dry run: would write ${JSON.stringify(update('record'))}`])
})

it('one that lasts is told again after ten minutes, with how often it came', async () => {
  const { clock, lines, tell } = stage()
  for (let pass = 0; pass < 3; pass += 1) tell(update('record'), 'would write')
  await clock.advance(10 * 60_000)
  tell(update('record'), 'would write')
  expect(lines.map((line) => /"repeats":\d+/.exec(line)?.[0])).toEqual([undefined, '"repeats":2'])
})

it('what is about another object, or another act, is told by itself', () => {
  const { lines, tell } = stage()
  tell(update('a'), 'would write')
  tell(update('b'), 'would write')
  tell({ ...update('a'), verb: 'delete' }, 'would write')
  tell({ resource: 'events', namespace: 'x', name: 'a.1' }, 'would write')
  tell({ resource: 'events', namespace: 'x', name: 'a.2' }, 'would write')
  expect(lines).toHaveLength(4)
})

it('a flood of new names neither fills the memory nor silences what comes after it', () => {
  const { lines, tell } = stage()
  for (let index = 0; index < 20_000; index += 1) tell(update(`name-${index}`), 'would write')
  tell(update('name-0'), 'would write')
  expect(lines).toHaveLength(20_001)
})
