import { describe, expect, it } from 'vitest'
import { explainDisruption } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { plainPaint } from '../../shared/paint.ts'
import { ProgressLog } from './drain-progress.ts'

type Status = NonNullable<NodeDisruption['status']>
const start = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()

const answer = (status: Status) =>
  explainDisruption({
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'r', creationTimestamp: at(0) },
    spec: { nodeName: 'node-1', intent: 'Reboot', honourSkipDrain: true },
    status,
  })

const budget = {
  object: 'pdb/shop/orders',
  holder: 'its own pods',
  since: at(0),
  reason: 'BudgetExhausted',
  wayOut: 'It allows 0 of the 1 that are needed.',
  pods: ['shop/orders-0', 'shop/orders-1'],
}
const refused = {
  object: 'pod/shop/orders-0',
  holder: 'the API server',
  since: at(0),
  reason: 'BudgetExhausted',
  wayOut: 'Retried every 5 s; refused with: no',
}
const terminating = {
  object: 'pod/shop/web-0',
  holder: 'kubelet of node-1',
  since: at(0),
  reason: 'PodIsLeaving',
  wayOut: 'It is gone when its containers have ended.',
  pods: ['shop/web-0'],
}
const moving = (percent: number) => ({
  object: 'replica/db-r-1',
  holder: 'pdb/longhorn-system/im-1',
  since: at(0),
  reason: 'ReplicaMoving',
  wayOut: `It is being copied: ${percent} %.`,
  pods: ['longhorn-system/im-1'],
})
const web0 = { namespace: 'shop', name: 'web-0', uid: 'u' }

interface Row {
  /** Seconds after the start, and what is on record then. */
  readonly given: readonly (readonly [number, Status])[]
  /** All lines but those of phases. */
  readonly then: readonly string[]
}

const rows: Record<string, Row> = {
  'pods that a budget refuses are named with it, once, and none of them is called evicted': {
    given: [[1, { phase: 'Draining', evictedPods: [web0], blockedBy: [budget, refused] }]],
    then: [
      'evicted: shop/web-0',
      'shop/orders-0, shop/orders-1 wait for pdb/shop/orders (BudgetExhausted), held by its own pods for 1s. It allows 0 of the 1 that are needed.',
    ],
  },
  'a pod that only the server refuses is shown in its words': {
    given: [[5, { phase: 'Draining', blockedBy: [refused] }]],
    then: ['shop/orders-0 is refused (BudgetExhausted) for 5s. Retried every 5 s; refused with: no'],
  },
  'a pod that ends within seconds is no line of its own, and one that does not is': {
    given: [
      [2, { phase: 'Draining', blockedBy: [terminating] }],
      [12, { phase: 'Draining', blockedBy: [terminating] }],
      [13, { phase: 'Draining', blockedBy: [terminating] }],
    ],
    then: ['shop/web-0 has been terminating for 12s (kubelet of node-1). It is gone when its containers have ended.'],
  },
  'a finalizer is named at once: no time ends that wait': {
    given: [[1, { phase: 'Draining', blockedBy: [{ ...terminating, holder: 'finalizer x/y' }] }]],
    then: ['shop/web-0 has been terminating for 1s (finalizer x/y). It is gone when its containers have ended.'],
  },
  'how far a replica has moved is shown again when it has changed, but not every second': {
    given: [
      [1, { phase: 'Draining', blockedBy: [moving(10)] }],
      [2, { phase: 'Draining', blockedBy: [moving(12)] }],
      [17, { phase: 'Draining', blockedBy: [moving(40)] }],
    ],
    then: [1, 17].map(
      (seconds) =>
        `longhorn-system/im-1 waits for replica/db-r-1 (ReplicaMoving), held by pdb/longhorn-system/im-1 for ${seconds}s. It is being copied: ${seconds === 1 ? 10 : 40} %.`,
    ),
  },
  'a wait that lasts is repeated every minute: a log without it reads like a command that hangs': {
    given: [
      [1, { phase: 'Waiting', blockedBy: [{ ...budget, pods: [] }] }],
      [60, { phase: 'Waiting', blockedBy: [{ ...budget, pods: [] }] }],
      [61, { phase: 'Waiting', blockedBy: [{ ...budget, pods: [] }] }],
    ],
    then: [
      'waits for pdb/shop/orders (BudgetExhausted), held by its own pods for 1s. It allows 0 of the 1 that are needed.',
      'still waits for pdb/shop/orders (BudgetExhausted), held by its own pods for 61s. It allows 0 of the 1 that are needed.',
    ],
  },
}

describe('the progress of a drain says what each pod waits for', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    const log = new ProgressLog({ paint: plainPaint })
    const lines = given.flatMap(([seconds, status]) => log.lines(answer(status), at(seconds)))
    expect(lines.filter((line) => line.startsWith(' ')).map((line) => line.trim())).toEqual(then)
  })

  it('what a request waited for before it was cancelled is not what its end waits for: a wrong holder was named', () => {
    const draining = answer({ phase: 'Draining', blockedBy: [budget] })
    const log = new ProgressLog({ paint: plainPaint, after: draining })
    expect(log.lines(draining, at(1))).toEqual([])
    const storage = { ...budget, object: 'storage/rook-ceph/rook-ceph', reason: 'StorageRecovering', pods: [] }
    expect(log.lines(answer({ phase: 'Recovering', blockedBy: [storage] }), at(2))).toEqual([
      expect.stringMatching(/^Recovering /),
      expect.stringContaining('waits for storage/rook-ceph/rook-ceph (StorageRecovering)'),
    ])
  })

  it('an end that the operator does not notice is reported, and not waited for without a word', () => {
    const drained = answer({ phase: 'Drained' })
    const log = new ProgressLog({ paint: plainPaint, after: drained })
    const lines = [1, 5, 11, 12].flatMap((seconds) => log.lines(drained, at(seconds)))
    expect(lines.map((line) => line.trim())).toEqual(['the operator has not picked it up yet (cofferdam status)'])
  })
})
