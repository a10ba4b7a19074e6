import type { MachineConfigPool } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { describe, expect, it } from 'vitest'
import { isPausedByUs, parsePool } from './parse-pool.ts'

function pool(spec: unknown, annotations?: Record<string, string>, metadata: object = {}): MachineConfigPool {
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name: 'worker', ...(annotations === undefined ? {} : { annotations }), ...metadata },
    spec,
  } as unknown as MachineConfigPool
}

const isWorker = { key: 'worker', operator: 'Exists' }

describe('which nodes a pool has', () => {
  const readable: Readonly<Record<string, readonly [unknown, object]>> = {
    'is said by labels': [{ matchLabels: { a: 'b' } }, { matchLabels: { a: 'b' }, matchExpressions: [] }],
    'is said by requirements': [
      { matchExpressions: [isWorker, { key: 'zone', operator: 'In', values: ['a'] }] },
      { matchLabels: {}, matchExpressions: [isWorker, { key: 'zone', operator: 'In', values: ['a'] }] },
    ],
  }
  it.each(Object.entries(readable))('%s', (_, [nodeSelector, then]) => {
    expect(parsePool(pool({ nodeSelector })).selector).toEqual(then)
  })

  const unreadable: Readonly<Record<string, unknown>> = {
    'when nothing is said: a pool of all nodes would pause every update': undefined,
    'when the selector selects everything': {},
    'when the selector is a text': 'worker',
    'when labels are a list': { matchLabels: ['worker'] },
    'when a label is a number': { matchLabels: { a: 1 } },
    'when one of two labels is a number': { matchLabels: { b: 'c', a: 1 } },
    'when requirements are no list': { matchExpressions: isWorker },
    'when a requirement is a text': { matchExpressions: ['worker'] },
    'when one of two requirements has an operator that does not exist': {
      matchExpressions: [isWorker, { key: 'a', operator: 'Like' }],
    },
    'when a requirement has no operator': { matchExpressions: [{ key: 'a' }] },
    'when a requirement has no key': { matchExpressions: [{ operator: 'Exists' }] },
    'when the values of a requirement are no list': { matchExpressions: [{ key: 'a', operator: 'In', values: 'b' }] },
  }
  it.each(Object.entries(unreadable))('is not known %s', (_, nodeSelector) => {
    expect(parsePool(pool({ nodeSelector })).selector).toBeUndefined()
  })
})

describe('a pool', () => {
  it('without a spec or annotations is neither paused nor managed, and disturbs no other', () => {
    const plain = { isPaused: false, isManaged: false, isDeleted: false, mark: { is: 'absent' }, selector: undefined }
    expect([undefined, 'nonsense', null].map((spec) => parsePool(pool(spec)))).toEqual([
      expect.objectContaining(plain),
      expect.objectContaining(plain),
      expect.objectContaining(plain),
    ])
  })

  it('is told by its uid and its version where it has them, so that a write meets the pool that was read', () => {
    expect(parsePool(pool({}, {}, { uid: 'u1', resourceVersion: '7' })).about.metadata).toEqual({
      name: 'worker',
      uid: 'u1',
      resourceVersion: '7',
    })
    expect(parsePool(pool({})).about.metadata).toEqual({ name: 'worker' })
  })

  it('that is being deleted is known as such', () => {
    expect(parsePool(pool({}, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })).isDeleted).toBe(true)
  })

  const marks: Readonly<Record<string, readonly [string, object]>> = {
    'since a time is ours': ['{"since":"2026-01-01T00:00:00Z"}', { is: 'paused', sinceMs: Date.UTC(2026, 0, 1) }],
    'that was lifted is not put back': ['{"lifted":"2026-01-01T00:00:00Z"}', { is: 'lifted' }],
    'that is no JSON was changed by another': ['mine', { is: 'changed' }],
    'that is a list was changed by another': ['[]', { is: 'changed' }],
    'without a time was changed by another': ['{}', { is: 'changed' }],
    'since a number was changed by another': ['{"since":5}', { is: 'changed' }],
    'since no time was changed by another': ['{"since":"yesterday"}', { is: 'changed' }],
  }
  it.each(Object.entries(marks))('a mark %s', (_, [text, then]) => {
    expect(parsePool(pool({}, { 'cofferdam.io/paused-by': text })).mark).toEqual(then)
  })

  it('is paused by Cofferdam only while it is paused and says so: a pause of the administrator is never lifted', () => {
    const mark = { 'cofferdam.io/paused-by': '{"since":"2026-01-01T00:00:00Z"}' }
    const pools = [
      pool({ paused: true }, mark),
      pool({ paused: true }),
      pool({ paused: false }, mark),
      pool({ paused: 'yes' }, mark),
    ]
    expect(pools.map((each) => isPausedByUs(parsePool(each)))).toEqual([true, false, false, false])
  })
})
