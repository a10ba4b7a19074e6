import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { parseUpdateReport, type UpdateReport } from './update-report.ts'

const record = { generation: 3, startedMs: 1_000_000, done: 4 }
const progress = {
  total: 12,
  done: 4,
  running: [4, 5],
  waiting: 6,
  blocked: 1,
  failed: 0,
  roundsLeft: 4,
  lowerBound: 3,
}

function configMap(data: Record<string, string> | undefined, name = 'cofferdam-osd-update-ceph'): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace: 'rook-ceph',
      name,
      annotations: { 'cofferdam.io/reason': 'OsdsUpdating', 'cofferdam.io/explanation': '2 OSDs are on the way' },
    },
    ...(data && { data }),
  }
}

const written = { record: JSON.stringify(record), progress: JSON.stringify(progress) }

const read: UpdateReport = {
  namespace: 'rook-ceph',
  cluster: 'ceph',
  reason: 'OsdsUpdating',
  explanation: '2 OSDs are on the way',
  progress,
  secondsLeft: 200,
  plan: undefined,
  blocked: [],
  failed: [],
  frozen: undefined,
  startedMs: 1_000_000,
  done: 4,
}

const nowMs = 1_100_000

describe('what is on record about an update', () => {
  it('is told with what is left at the pace so far', () => {
    expect(parseUpdateReport(configMap(written), nowMs)).toEqual(read)
  })

  it('has what an administrator has to know later: overrides, flags, a release that lags, the pace', () => {
    const more = {
      overrides: { count: 1, last: { osd: 2, why: 'skipUpgradeChecks: x', atMs: 5 } },
      release: { atMs: 5, lag: 'require_osd_release is reef' },
      noout: [4],
      lastEndedMs: 6,
      pace: { key: '1||', rounds: 1 },
    }
    const data = { ...written, record: JSON.stringify({ ...record, ...more }) }
    expect(parseUpdateReport(configMap(data), nowMs)).toMatchObject({
      overrides: more.overrides,
      releaseLag: 'require_osd_release is reef',
      noout: [4],
      lastEndedMs: 6,
      pace: { key: '1||', pending: [], open: [], rounds: 1 },
    })
  })

  it('names what cannot be read, also where nothing else was said', () => {
    const { annotations: _, ...metadata } = configMap(written).metadata
    const silent = { ...configMap({ ...written, plan: '{' }), metadata }
    expect(parseUpdateReport(silent, nowMs)?.explanation).toMatch(/^cannot be read: /)
  })

  it('has the plan and what blocks, where they were written down', () => {
    const plan = [[4, 5], [6]]
    const blocked = [{ osd: 7, why: 'pg 1.2 would have one copy' }]
    const data = { ...written, plan: JSON.stringify(plan), blocked: JSON.stringify(blocked) }
    expect(parseUpdateReport(configMap(data), nowMs)).toEqual({ ...read, plan, blocked })
  })

  it('promises no end while it is frozen, nor when nothing is left', () => {
    const frozen = { osd: 4, why: 'it is not back after 600 s', atMs: 1_090_000 }
    const data = { ...written, record: JSON.stringify({ ...record, failed: [frozen], frozen }) }
    expect(parseUpdateReport(configMap(data), nowMs)).toEqual({
      ...read,
      failed: [frozen],
      frozen,
      secondsLeft: undefined,
    })
    const over = { ...written, progress: JSON.stringify({ ...progress, running: [], waiting: 0 }) }
    expect(parseUpdateReport(configMap(over), nowMs)?.secondsLeft).toBeUndefined()
  })

  it('leaves out what a newer version added', () => {
    const data = { ...written, progress: JSON.stringify({ ...progress, mood: 'good' }), later: 'x' }
    expect(parseUpdateReport(configMap(data), nowMs)).toEqual(read)
  })

  it.each(['cofferdam-storage', 'cofferdam-osd-update-', 'osd-update-ceph'])(
    'is not looked for in a ConfigMap of another name (%s)',
    (name) => {
      expect(parseUpdateReport(configMap(written, name), nowMs)).toBeUndefined()
    },
  )
})

describe('a ConfigMap that cannot be read says so', () => {
  const unreadable: Record<string, [Record<string, string> | undefined, string]> = {
    'when it is empty': [undefined, 'it has no key record'],
    'when the record is missing': [{ progress: written.progress }, 'it has no key record'],
    'when the record is no JSON': [{ ...written, record: '{' }, 'its key record is no JSON'],
    'when the record is no object': [{ ...written, record: '[]' }, 'its key record is no JSON object'],
    'when a field of the record is none': [
      { ...written, record: JSON.stringify({ ...record, done: -1 }) },
      'its field done is invalid',
    ],
  }
  it.each(Object.entries(unreadable))('%s', (_name, [data, problem]) => {
    expect(parseUpdateReport(configMap(data), nowMs)).toEqual({
      ...read,
      reason: 'UpdateRecordUnreadable',
      explanation: `ConfigMap cofferdam-osd-update-ceph cannot be read: ${problem}; nothing starts until it is corrected or deleted`,
      progress: undefined,
      secondsLeft: undefined,
      startedMs: undefined,
      done: 0,
    })
  })

  const halfRead: Record<string, [Record<string, string>, string, Partial<UpdateReport>]> = {
    'and tells the rest without progress': [
      { progress: '{"total":-1}' },
      'its key progress is invalid',
      { progress: undefined, secondsLeft: undefined },
    ],
    'and tells the rest without a plan that is no JSON': [{ plan: '[[1,2' }, 'its key plan is no JSON', {}],
    'and tells the rest without a plan of no ids': [{ plan: '[["a"]]' }, 'its key plan is invalid', {}],
    'and tells the rest without what blocks': [{ blocked: '[{"osd":1}]' }, 'its key blocked is invalid', {}],
    'and names everything that it could not read': [
      { blocked: 'null', plan: '7' },
      'its key plan is invalid, its key blocked is invalid',
      {},
    ],
  }
  it.each(Object.entries(halfRead))('%s', (_name, [data, problem, expected]) => {
    expect(parseUpdateReport(configMap({ ...written, ...data }), nowMs)).toEqual({
      ...read,
      explanation: `2 OSDs are on the way; cannot be read: ${problem}`,
      ...expected,
    })
  })

  it('without notes, as somebody may have removed them', () => {
    const bare: ConfigMap = {
      ...configMap(written),
      metadata: { namespace: 'rook-ceph', name: 'cofferdam-osd-update-ceph' },
    }
    expect(parseUpdateReport(bare, nowMs)).toEqual({ ...read, reason: '', explanation: '' })
  })
})
