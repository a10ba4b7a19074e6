import { describe, expect, it } from 'vitest'
import type { UpdateRecord } from './snapshot.ts'
import { formatUpdateRecord, freshRecord, parseUpdateRecord, withFailure } from './update-record.ts'

const failure = { osd: 4, why: 'it was not back 600 s after its update began', atMs: 1_000 }
const full: UpdateRecord = {
  generation: 3,
  startedMs: 10,
  failed: [failure],
  frozen: failure,
  lastEndedMs: 20,
  settledMs: 15,
  wereDown: [1, 7],
  turns: { had: ['node-a'], open: { nodes: ['node-b', 'node-c'], askedMs: 12, freeSinceMs: 14 } },
  done: 12,
}
const text = (fields: object) => ({ record: JSON.stringify({ ...full, ...fields }) })

describe('the record of an update in its ConfigMap', () => {
  it('comes back as it was written, whole or fresh', () => {
    const asked: UpdateRecord = { ...full, turns: { had: [], open: { nodes: ['node-b'], askedMs: 12 } } }
    const over: UpdateRecord = { ...full, turns: { had: ['node-b'] } }
    const lagging: UpdateRecord = {
      ...full,
      release: { atMs: 3, lag: 'require_osd_release is reef' },
      noout: [2],
      overrides: { count: 2, last: failure },
      pace: { key: '1||', pending: [1], open: [{ osd: 1, atMs: 2, generation: 3 }], rounds: 1 },
    }
    const records = [full, asked, over, lagging, { ...full, release: { atMs: 3 } }, freshRecord(5)]
    const read = records.map((record) => parseUpdateRecord(formatUpdateRecord(record), 9))
    expect(read).toEqual(records.map((record) => ({ record })))
  })

  it('of a version that gave no turns is read as ever', () => {
    const { turns: _, ...older } = full
    expect(parseUpdateRecord({ record: JSON.stringify(older) }, 3)).toEqual({ record: older })
  })

  it('keeps what a later version noted about the same update, or a rollback in the middle would lose it', () => {
    const before = text({ canary: 'osd.3' })
    expect(parseUpdateRecord(before, 3)).toEqual({ record: full })
    const fieldsOf = (data: Record<string, string>) => JSON.parse(data['record'] ?? '') as Record<string, unknown>
    expect(fieldsOf(formatUpdateRecord({ ...full, done: 13 }, before))).toMatchObject({ canary: 'osd.3', done: 13 })
    expect(fieldsOf(formatUpdateRecord({ ...full, generation: 4 }, before))).not.toHaveProperty('canary')
    expect(formatUpdateRecord(full, { record: 'no JSON' })).toEqual(formatUpdateRecord(full))
  })

  it('is fresh for the generation at hand where there is no ConfigMap yet', () => {
    expect(parseUpdateRecord(undefined, 4)).toEqual({ record: freshRecord(4) })
  })

  it('passes over fields that a newer version added', () => {
    expect(parseUpdateRecord(text({ colour: 'blue' }), 3)).toEqual({ record: full })
  })

  const broken: Record<string, { data: Record<string, string>; problem: string }> = {
    'no key': { data: {}, problem: 'it has no key record' },
    'no JSON': { data: { record: '{' }, problem: 'its key record is no JSON' },
    'a list': { data: { record: '[]' }, problem: 'its key record is no JSON object' },
    'a failure without its OSD': {
      data: text({ failed: [{ why: 'x', atMs: 1 }] }),
      problem: 'its field failed is invalid',
    },
    'a freeze that is a word': { data: text({ frozen: 'yes' }), problem: 'its field frozen is invalid' },
    'no freeze but null': { data: text({ frozen: null }), problem: 'its field frozen is invalid' },
    'half an OSD': { data: text({ wereDown: [1.5] }), problem: 'its field wereDown is invalid' },
    'turns that are a list': { data: text({ turns: [] }), problem: 'its field turns is invalid' },
    'a turn without its nodes': {
      data: text({ turns: { had: [], open: { askedMs: 1 } } }),
      problem: 'its field turns is invalid',
    },
    'a turn since a word': {
      data: text({ turns: { had: [], open: { nodes: ['node-b'], askedMs: 1, freeSinceMs: 'now' } } }),
      problem: 'its field turns is invalid',
    },
    'a node without a name': { data: text({ turns: { had: [''] } }), problem: 'its field turns is invalid' },
    'a check of the release that is a word': { data: text({ release: 'ok' }), problem: 'its field release is invalid' },
    'a check of the release without its time': { data: text({ release: {} }), problem: 'its field release is invalid' },
    'a lag that is a number': { data: text({ release: { atMs: 1, lag: 2 } }), problem: 'its field release is invalid' },
    'overrides that are a list': { data: text({ overrides: [] }), problem: 'its field overrides is invalid' },
    'overrides without a count': {
      data: text({ overrides: { last: failure } }),
      problem: 'its field overrides is invalid',
    },
    'overrides without the last one': {
      data: text({ overrides: { count: 1 } }),
      problem: 'its field overrides is invalid',
    },
    'a negative count': { data: text({ done: -1 }), problem: 'its field done is invalid' },
    'no generation': { data: text({ generation: undefined }), problem: 'its field generation is invalid' },
  }
  for (const [name, { data, problem }] of Object.entries(broken)) {
    it(`is not believed in part: with ${name} nothing of it counts`, () => {
      expect(parseUpdateRecord(data, 3)).toEqual({ problem })
    })
  }

  it('holds each OSD that failed once, with the first cause', () => {
    const again = withFailure(withFailure(freshRecord(1), failure), { ...failure, why: 'something else' })
    expect(again.failed).toEqual([failure])
  })
})
