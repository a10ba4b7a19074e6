import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { expect, it } from 'vitest'
import { type OraclePorts, watchOver } from './oracle.ts'

/** One group of two copies, which needs both. */
const group = {
  count: 1,
  poolIds: [1],
  pgNumbers: [0],
  states: [0],
  stateNames: ['active'],
  offsets: [0, 2],
  acting: [0, 1],
}
const nothing = { values: () => [], subscribe: () => () => {} }

interface Look {
  readonly up: readonly number[]
  readonly stalled?: readonly number[]
}

/** How many promises the oracle has seen broken after each look. */
async function blamed(looks: readonly Look[]) {
  let [now] = looks
  const seen = () => ({
    pgs: { ...group },
    pools: [{ id: 1, minSize: 2 }],
    osds: [0, 1].map((id) => ({ id, isUp: now?.up.includes(id) === true })),
  })
  const oracle = watchOver({
    views: { of: () => nothing } as unknown as Views,
    domainLabel: 'zone',
    observeCeph: async () =>
      ({ known: true, value: seen() }) as unknown as Awaited<ReturnType<OraclePorts['observeCeph']>>,
    isUnattended: () => false,
    stalledOsds: () => now?.stalled ?? [],
  })
  const counts: number[] = []
  for (const look of looks) {
    now = look
    oracle.look()
    await new Promise((resolve) => setImmediate(resolve))
    counts.push(oracle.violations.length)
  }
  oracle.stop()
  return counts
}

const whole = { up: [0, 1] }
const short = { up: [0] }

const cases: Record<string, [readonly Look[], readonly number[]]> = {
  'a group that falls below its floor because an OSD was taken is a broken promise': [
    [whole, short],
    [0, 1],
  ],
  'one that falls because the machine stood still breaks none, also while it recovers': [
    [whole, { up: [0], stalled: [1] }, short, whole],
    [0, 0, 0, 0],
  ],
  'once all have recovered the next one is a broken promise again': [
    [whole, { up: [0], stalled: [1] }, whole, short],
    [0, 0, 0, 1],
  ],
}

it.each(Object.entries(cases))('%s', async (_, [looks, expected]) => {
  expect(await blamed(looks)).toEqual(expected)
})
