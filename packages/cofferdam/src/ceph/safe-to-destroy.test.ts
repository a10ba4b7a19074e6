import { describe, expect, it } from 'vitest'
import { askSafeToDestroy, parseSafeToDestroy } from './safe-to-destroy.ts'

const answer = (lists: Record<string, unknown> = {}) => ({
  safe_to_destroy: [],
  active: [],
  missing_stats: [],
  stored_pgs: [],
  ...lists,
})

describe('which OSDs Ceph calls safe to destroy', () => {
  const cases: Record<string, { json: unknown; known: number[] | string }> = {
    'are those it lists, and no other that was asked about': {
      json: answer({ safe_to_destroy: [3], active: [4], missing_stats: [5] }),
      known: [3],
    },
    'are none when it lists none': { json: answer({ stored_pgs: [3] }), known: [] },
    'are unknown when one is called safe and unsafe': {
      json: answer({ safe_to_destroy: [3], active: [3] }),
      known: 'osd safe-to-destroy contradicts itself about osd.3',
    },
    'are unknown when it speaks of one that nobody asked about': {
      json: answer({ safe_to_destroy: [9] }),
      known: 'osd safe-to-destroy contradicts itself about osd.9',
    },
  }
  for (const [name, { json, known }] of Object.entries(cases)) {
    it(name, () => {
      const parsed = parseSafeToDestroy(json, [3, 4, 5])
      expect(parsed.known ? [...parsed.value] : parsed.why).toEqual(known)
    })
  }

  for (const json of [
    {},
    null,
    [],
    { safe_to_destroy: [3] },
    answer({ safe_to_destroy: ['three'] }),
    answer({ active: 4 }),
  ]) {
    it(`are unknown when it answers ${JSON.stringify(json)}`, () => {
      expect(parseSafeToDestroy(json, [3]).known).toBe(false)
    })
  }

  it('are unknown when Ceph cannot say or is asked about nobody', async () => {
    const busy = { run: () => Promise.resolve({ code: 11, out: '', err: 'pgs have unknown state' }) }
    expect([await askSafeToDestroy(busy, [3]), await askSafeToDestroy(busy, [])]).toEqual([
      { known: false, why: 'osd safe-to-destroy ended with 11: pgs have unknown state' },
      { known: false, why: 'osd safe-to-destroy was asked about no OSD' },
    ])
  })
})
