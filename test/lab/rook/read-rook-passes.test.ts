import { describe, expect, it } from 'vitest'
import { readRookPasses, roundsOf } from './read-rook-passes.ts'

const at = '2026-01-01 10:00:00.000000'
const begins = (pass: number, image: string) => `2026/01/01 10:00:00 PASS ${pass} begins with image=${image}`
const ended = (pass: number, error = '<nil>') => `2026/01/01 10:00:09 PASS ${pass} ended after 9.5 s, error=${error}`
const batch = (...osds: readonly number[]) => `${at} D | op-osd: updating OSDs: [${osds.join(' ')}]`
const osd = (id: number) => `${at} I | op-osd: updating OSD ${id} on node "node-a"`
const skipped = (id: number) =>
  `${at} W | op-osd: Skipping update for OSD ${id} since labeled with ceph.rook.io/do-not-reconcile`

function read(...lines: readonly string[]) {
  const reader = readRookPasses()
  for (const line of lines) reader.line(line)
  return reader.passes()
}

describe("passes of Rook's OSD loop", () => {
  it('a pass has its batches, how long it took and why it failed', () => {
    const passes = read(begins(1, 'v2'), batch(0, 1), osd(0), osd(1), batch(2), osd(2), ended(1, 'no rook-ceph-osd'))
    expect(passes).toEqual([{ image: 'v2', batches: [[0, 1], [2]], seconds: 9.5, error: 'no rook-ceph-osd' }])
  })

  it('an OSD that Rook asked Ceph about and then skipped is in no batch', () => {
    const [pass] = read(begins(1, 'v2'), batch(0, 1), osd(0), skipped(1), batch(1), skipped(1))
    expect(pass).toEqual({ image: 'v2', batches: [[0]], seconds: undefined, error: undefined })
  })

  it('what a later pass writes once more is no round of its own, and neither is an older image', () => {
    const first = [begins(1, 'v1'), batch(0, 1), osd(0), osd(1), ended(1)]
    const second = [begins(2, 'v2'), batch(0, 1), osd(1), skipped(0), ended(2)]
    const third = [begins(3, 'v2'), batch(0, 1), osd(1), osd(0), ended(3)]
    const passes = read(...first, ...second, ...third)
    expect(roundsOf(passes, 'v2')).toEqual([[1], [0]])
  })

  it('a pass that was cancelled ends after the next has begun, and is not taken for it', () => {
    const passes = read(begins(1, 'v1'), begins(2, 'v2'), ended(1, 'context canceled'), batch(3), osd(3))
    expect(passes).toEqual([
      { image: 'v1', batches: [], seconds: 9.5, error: 'context canceled' },
      { image: 'v2', batches: [[3]], seconds: undefined, error: undefined },
    ])
  })

  it('lines before the first pass belong to none', () => {
    expect(read(batch(0), osd(0), ended(0))).toEqual([])
  })
})
