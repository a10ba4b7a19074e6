import { expect, it } from 'vitest'
import { type Loss, whoseFault } from './whose-fault.ts'

const unseenMs = 8_000
const fire = (rack: string, atMs: number): Loss => ({ kind: 'fire', rack, atMs, what: 'a fire' })
const eviction = (rack: string, atMs: number): Loss => ({ kind: 'eviction', rack, atMs, what: 'osd.3' })

const cases: Record<string, { losses: Loss[]; unattended?: number[]; why: RegExp | undefined }> = {
  'two racks evicted and no fire: the operator let them go, and that is its fault': {
    losses: [eviction('x', 0), eviction('y', 60_000)],
    why: undefined,
  },
  'an eviction long after a fire, with an operator there: it could know, and let it go': {
    losses: [fire('x', 0), eviction('y', 9_000)],
    why: undefined,
  },
  'a fire and an eviction of the same rack harm one copy only: whatever fell, fell by the operator': {
    losses: [fire('x', 0), eviction('x', 1_000)],
    why: undefined,
  },
  'an eviction a moment after a fire elsewhere: not even Ceph knew': {
    losses: [fire('x', 0), eviction('y', 3_000)],
    why: /met the eviction/,
  },
  'a fire a moment after an eviction elsewhere: the fire could not know': {
    losses: [eviction('y', 0), fire('x', 3_000)],
    why: /met the eviction/,
  },
  'an eviction long after a fire, while every operator was dead': {
    losses: [fire('x', 0), eviction('y', 20_000)],
    unattended: [15_000],
    why: /no operator/,
  },
  'operators that were dead before the fire and back since are no excuse': {
    losses: [fire('x', 10_000), eviction('y', 40_000)],
    unattended: [5_000],
    why: undefined,
  },
}

it.each(Object.entries(cases))('%s', (_, { losses, unattended = [], why }) => {
  const found = whoseFault(losses, unattended, unseenMs)
  if (why === undefined) expect(found).toBeUndefined()
  else expect(found).toMatch(why)
})
