import { describe, expect, it } from 'vitest'
import { exampleReplica } from './testing/replica-example.ts'
import { decideDeletion, decideReplenishment, type Replenishment } from './volume-decisions.ts'
import { type ReplicaFacts, robustnessOf, type VolumeFacts } from './volume-health.ts'

function replica(name: string, changes: Partial<ReplicaFacts> = {}): ReplicaFacts {
  return exampleReplica({ name, node: name, ...changes })
}

const evicting = { isEvicting: true }
const failed = { isFailed: true, failedAtMs: 1_000, mode: undefined }
const rebuilding = { isUsed: false, hasData: false, retryCount: 5, mode: 'WO' as const }

function volume(
  wantedCount: number,
  replicas: readonly ReplicaFacts[],
  changes: Partial<VolumeFacts> = {},
): VolumeFacts {
  return {
    isAttached: true,
    isMigrating: false,
    mayReuse: true,
    balance: 'disabled',
    wantedCount,
    replicas,
    ...changes,
  }
}

describe('which copy is deleted', () => {
  const rows: Record<string, { facts: VolumeFacts; nowMs?: number; expected: string | undefined }> = {
    'one that is to go, once there are more healthy ones than wanted': {
      facts: volume(2, [replica('a', evicting), replica('b'), replica('c')]),
      expected: 'a',
    },
    'none while there are just enough': {
      facts: volume(2, [replica('a', evicting), replica('b')]),
      expected: undefined,
    },
    'none while its successor is still being rebuilt': {
      facts: volume(2, [replica('a', evicting), replica('b'), replica('c', rebuilding)]),
      expected: undefined,
    },
    'not the only healthy one, though all are to go': {
      facts: volume(0, [replica('a', evicting)]),
      expected: undefined,
    },
    'of several that are all to go, all but one': {
      facts: volume(1, [replica('a', evicting), replica('b', evicting)]),
      expected: 'b',
    },
    'a failed one that is to go, with more healthy ones than wanted': {
      facts: volume(1, [replica('a', { ...failed, ...evicting }), replica('b'), replica('c')]),
      expected: 'a',
    },
    'no surplus that nobody asked to go': {
      facts: volume(1, [replica('a'), replica('b')]),
      expected: undefined,
    },
    'a failed rebuild, which nobody tries again': {
      facts: volume(2, [replica('a'), replica('b', { ...failed, isUsed: false, hasData: false, retryCount: 5 })]),
      expected: 'b',
    },
    'a failed one that was away for too long': {
      facts: volume(2, [replica('a'), replica('b', failed)]),
      nowMs: 1_801_000,
      expected: 'b',
    },
    'not a failed one that was away for long, if nothing else is healthy': {
      facts: volume(2, [replica('a', failed), replica('b', failed)]),
      nowMs: 9_999_000,
      expected: undefined,
    },
    'nothing of a volume that migrates': {
      facts: volume(1, [replica('a', evicting), replica('b')], { isMigrating: true }),
      expected: undefined,
    },
    'one that is to go of a detached volume too': {
      facts: volume(1, [replica('a', { ...evicting, mode: undefined }), replica('b', { mode: undefined })], {
        isAttached: false,
      }),
      expected: 'a',
    },
  }
  it.each(Object.entries(rows))('%s', (_name, { facts, nowMs = 2_000, expected }) => {
    expect(decideDeletion(facts, { nowMs, staleMs: 1_800_000 })).toBe(expected)
  })
})

describe('whether a copy is made', () => {
  const create: Replenishment = { kind: 'create', mayIgnoreReusable: false }
  const rows: Record<
    string,
    { facts: VolumeFacts; limit?: number; nowMs?: number; isPinnedV2?: boolean; expected: Replenishment }
  > = {
    'an eviction asks for one, before the old one goes': {
      facts: volume(2, [replica('a', evicting), replica('b')]),
      expected: create,
    },
    'one at a time, however many are to go': {
      facts: volume(2, [replica('a', evicting), replica('b', evicting), replica('c', rebuilding)]),
      expected: { kind: 'none', because: 'a rebuild is under way' },
    },
    'none when enough stay': {
      facts: volume(2, [replica('a', evicting), replica('b'), replica('c')]),
      expected: { kind: 'none', because: 'there are enough' },
    },
    'none of a detached volume': {
      facts: volume(2, [replica('a', evicting)], { isAttached: false }),
      expected: { kind: 'none', because: 'the volume is not attached' },
    },
    'none of a volume that migrates': {
      facts: volume(2, [replica('a')], { isMigrating: true }),
      expected: { kind: 'none', because: 'the volume is migrating' },
    },
    'none of a linked clone, whose replicas live beside those of its source': {
      facts: volume(2, [replica('a', evicting), replica('b')], { isLinkedClone: true }),
      expected: { kind: 'none', because: 'a linked clone keeps the replicas that it began with' },
    },
    'none with rebuilds switched off': {
      facts: volume(2, [replica('a')]),
      limit: 0,
      expected: { kind: 'none', because: 'rebuilds are switched off' },
    },
    'none without a healthy source': {
      facts: volume(2, [replica('a', failed)]),
      expected: { kind: 'none', because: 'no replica is healthy' },
    },
    'none for a copy of the second engine that cannot leave its node': {
      facts: volume(1, [replica('a', evicting)]),
      isPinnedV2: true,
      expected: { kind: 'none', because: 'its replica cannot leave its node' },
    },
    'none while the last one that was made waits for its rebuild': {
      facts: volume(2, [replica('a', evicting), replica('b'), replica('c', { ...rebuilding, mode: undefined })]),
      expected: { kind: 'none', because: 'a replica waits for its rebuild' },
    },
    'the newest failed one that can run is taken back first': {
      facts: volume(3, [replica('a'), replica('b', failed), replica('c', { ...failed, failedAtMs: 1_500 })]),
      expected: { kind: 'reuse', replica: 'c' },
    },
    'one that cannot run yet is waited for': {
      facts: volume(2, [replica('a'), replica('b', { ...failed, canRun: false })]),
      expected: { kind: 'wait', forMs: 599_000 },
    },
    'and is replaced when the wait is over': {
      facts: volume(2, [replica('a'), replica('b', { ...failed, canRun: false })]),
      nowMs: 601_000,
      expected: { kind: 'create', mayIgnoreReusable: true },
    },
    'one that failed five times is not waited for': {
      facts: volume(2, [replica('a'), replica('b', { ...failed, retryCount: 5 })]),
      expected: { kind: 'create', mayIgnoreReusable: true },
    },
    'where the engine cannot bring one up to date, it is replaced at once': {
      facts: volume(2, [replica('a'), replica('b', failed)], { mayReuse: false }),
      expected: { kind: 'create', mayIgnoreReusable: true },
    },
    'one that is to go is not taken back': {
      facts: volume(2, [replica('a'), replica('b', { ...failed, ...evicting })]),
      expected: { kind: 'create', mayIgnoreReusable: true },
    },
    'an eviction of a healthy volume never waits for a failed one': {
      facts: volume(1, [replica('a', evicting), replica('b', { ...failed, canRun: false })]),
      expected: create,
    },
  }
  it.each(Object.entries(rows))('%s', (_name, { facts, limit = 5, nowMs = 2_000, isPinnedV2 = false, expected }) => {
    const options = { nowMs, rebuildLimit: limit, degradedAtMs: 1_000, waitMs: 600_000, mayTry: () => true }
    expect(decideReplenishment({ ...facts, isStrictLocalV2: isPinnedV2 }, options)).toEqual(expected)
  })
})

describe('how well a volume is', () => {
  it.each([
    ['healthy', volume(2, [replica('a'), replica('b')])],
    ['degraded', volume(2, [replica('a'), replica('b', rebuilding)])],
    ['faulted', volume(2, [replica('a', failed), replica('b', { mode: 'ERR' })])],
    ['unknown', volume(2, [replica('a', { mode: undefined })], { isAttached: false })],
    ['faulted', volume(1, [replica('a', failed)], { isAttached: false })],
  ] as const)('%s', (expected, facts) => {
    expect(robustnessOf(facts)).toBe(expected)
  })
})
