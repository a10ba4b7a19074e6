import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../../../ledger/rules/ledger.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { estimateEnds } from './estimate-ends.ts'

const at = (clock: string) => `2026-01-01T${clock}:00Z`
const nowMs = Date.parse(at('12:00'))

function request(uid: string, nodeName: string, status: NodeDisruption['status'] = {}): NodeDisruption {
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: uid, uid, creationTimestamp: at('08:00') },
    spec: { nodeName, intent: 'Reboot' },
    status,
  } as NodeDisruption
}

const over = (uid: string, node: string, from: string, to: string) =>
  request(uid, node, { phase: 'Completed', firstInQueueSince: at(from), phaseSince: at(to) })

function holding(key: string, requestId: string, since: string): Ledger {
  const entry = { key, scope: 'a', state: 'Acting', holder: 'alice', since: at(since), requestId, epoch: 1 }
  return { ...emptyLedger, entries: [entry] } as unknown as Ledger
}

const key = 'storage/rook-ceph/rook-ceph'
const lock = { holder: 'bob', reason: 'rebalance', sinceMs: 0, writtenMs: 0, untilMs: Date.parse(at('14:00')) }

const cases: Record<string, { given: Partial<Parameters<typeof estimateEnds>[0]>; then: Record<string, object> }> = {
  'a drain is taken to last as long as the last one of its node': {
    given: {
      ledger: known(holding(key, 'r', '11:55')),
      disruptions: [
        over('p1', 'worker-a1', '09:00', '09:30'),
        over('p2', 'worker-a1', '10:00', '10:10'),
        request('r', 'worker-a1'),
      ],
    },
    then: { [key]: { at: at('12:05'), restsOn: '600 s, by the last drain of worker-a1 on record' } },
  },
  'a drain of a node without a record lasts as long as the middle of the others': {
    given: {
      ledger: known(holding(key, 'r', '11:55')),
      disruptions: [
        over('p1', 'worker-b1', '09:00', '09:30'),
        over('p2', 'worker-b2', '10:00', '10:10'),
        over('p3', 'worker-c1', '10:00', '10:12'),
        request('r', 'worker-a1'),
      ],
    },
    then: { [key]: { at: at('12:07'), restsOn: '720 s, by 3 completed drains on record' } },
  },
  'a drain that lasts longer than those before it has no estimate: a time in the past would help nobody': {
    given: {
      ledger: known(holding(key, 'r', '11:00')),
      disruptions: [over('p1', 'worker-a1', '09:00', '09:30'), request('r', 'worker-a1')],
    },
    then: {},
  },
  'without a completed drain on record there is no number': {
    given: { ledger: known(holding(key, 'r', '11:55')), disruptions: [request('r', 'worker-a1')] },
    then: {},
  },
  'a hold of something else than a request, such as an update of OSDs, has no estimate': {
    given: {
      ledger: known(holding(key, 'osd-update/rook-ceph', '11:55')),
      disruptions: [over('p1', 'worker-a1', '09:00', '09:30')],
    },
    then: {},
  },
  'a lock of an owner ends at the latest when it says': {
    given: { appLocks: new Map([['pdb/shop/orders', { lock }]]) as never },
    then: { 'pdb/shop/orders': { at: at('14:00'), restsOn: 'the end of the lock, unless its owner renews it' } },
  },
  'without the ledger only locks have an end': {
    given: {
      ledger: unknown('disruptionledgers is forbidden'),
      disruptions: [over('p1', 'worker-a1', '09:00', '09:30'), request('r', 'worker-a1')],
    },
    then: {},
  },
}

describe('when what is held is free again', () => {
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    const ends = estimateEnds({ ledger: known(emptyLedger), appLocks: new Map(), disruptions: [], nowMs, ...given })
    expect(Object.fromEntries(ends)).toEqual(then)
  })
})
