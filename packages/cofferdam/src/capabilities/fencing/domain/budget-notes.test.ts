import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { budgetNotes, parseEvidence } from './budget-notes.ts'
import type { CephEvidence, FencedCluster } from './snapshot.ts'
import { exampleCluster, startMs } from './testing/small-fencing.ts'

const said = { reason: 'FenceAllowed', explanation: 'All is well.' } as const
const seen = (more: Partial<CephEvidence> = {}) =>
  known({ polledAtMs: startMs, isClean: known(true), upOsds: new Set([0, 1, 2, 5]), ...more })

function read(change: Partial<FencedCluster>, nowMs = startMs) {
  const notes = budgetNotes(exampleCluster(['a'], change), said, nowMs)
  return parseEvidence(notes['cofferdam.io/ceph-evidence'])
}

describe('what the operator writes on a machine budget about its decision', () => {
  it('has the reason, the explanation and what it knew of Ceph, in few words for many OSDs', () => {
    expect(budgetNotes(exampleCluster(['a'], { evidence: seen() }), said, startMs)).toEqual({
      'cofferdam.io/reason': 'FenceAllowed',
      'cofferdam.io/explanation': 'All is well.',
      'cofferdam.io/ceph-evidence': '{"clean":true,"up":"0-2,5"}',
    })
  })

  const cases: Record<string, { evidence: FencedCluster['evidence']; silence?: FencedCluster['silence'] }> = {
    'clean data': { evidence: seen() },
    'data that is not clean, and no OSD up': { evidence: seen({ isClean: known(false), upOsds: new Set() }) },
    'data of which it is not known': { evidence: seen({ isClean: unknown('the mgr is "new"\n') }) },
    'a Ceph that never answered': { evidence: unknown('it timed out'), silence: { lastAnswerMs: undefined } },
    'a Ceph that fell silent': { evidence: unknown('it timed out'), silence: { lastAnswerMs: startMs - 5_000 } },
  }
  it.each(Object.entries(cases))('is read as it was known: %s', (_, { evidence, silence }) => {
    const { polledAtMs: _at, ...rest } = evidence.known ? evidence.value : { polledAtMs: 0 }
    expect(read({ evidence, ...(silence && { silence }) })).toEqual({
      evidence: evidence.known ? known(rest) : evidence,
      ...(silence && { silence }),
    })
  })

  it('is the same text for as long as an old answer is the last: each pass would write it anew', () => {
    const evidence = seen()
    expect(read({ evidence }, startMs + 90_000)).toEqual(read({ evidence }, startMs + 150_000))
    expect(read({ evidence }, startMs + 90_000).evidence.known).toBe(false)
  })

  it.each([
    undefined,
    '',
    'no',
    '[]',
    '{}',
    '{"clean":true}',
    '{"clean":"yes","up":"0"}',
    '{"clean":true,"up":"2-0"}',
    '{"clean":true,"up":"0,x"}',
    // Each would be counted through again: a long list of them would keep explain and the page busy for half an hour.
    '{"clean":true,"up":"0-999999,0-999999"}',
    '{"clean":true,"up":"5,0-2"}',
  ])('says nothing where it cannot be read: %s', (text) => {
    expect(parseEvidence(text).evidence.known).toBe(false)
  })
})
