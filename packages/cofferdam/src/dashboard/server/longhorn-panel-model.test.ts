import { describe, expect, it } from 'vitest'
import type { Fixture } from '../../capabilities/longhorn-drain/domain/testing/longhorn-fixture.ts'
import { longhornSeen } from '../../explain/testing/longhorn-objects.ts'
import type { BudgetView, NodeView, PodView } from './cluster-view.ts'
import { viewCluster } from './cluster-view-model.ts'
import { buildLonghornPanel } from './longhorn-panel-model.ts'
import { movedShare, placeText } from './longhorn-view-model.ts'

const mib = 2 ** 20

const calm: Fixture = {
  policy: 'block-for-eviction',
  nodes: { n1: {}, n2: {} },
  volumes: { v1: { copies: { n1: 'healthy', n2: 'healthy' }, attachedTo: 'n2', actualBytes: 300 * mib } },
}
const moving: Fixture = {
  ...calm,
  nodes: { n1: { isCordoned: true, isAutoEvicting: true, moving: { sinceMs: -10_000, bytes: 400 * mib } }, n2: {} },
  volumes: {
    v1: {
      copies: { n1: { isEvictionRequested: true }, n2: 'rebuilding' },
      numberOfReplicas: 1,
      attachedTo: 'n2',
      actualBytes: 300 * mib,
    },
  },
}
const waiting: Fixture = {
  ...moving,
  volumes: {
    v1: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' }, attachedTo: 'n2', actualBytes: 300 * mib },
  },
}

const node = (id: string, isCordoned = false): NodeView => ({
  id,
  zone: '',
  roles: [],
  readiness: 'ready',
  isCordoned,
})
const manager = (on: string): PodView => ({
  id: `longhorn-system/im-${on}`,
  namespace: 'longhorn-system',
  name: `im-${on}`,
  app: `im-${on}`,
  node: on,
  state: 'ready',
  restarts: 0,
})
const budget = (on: string): BudgetView => ({
  id: `longhorn-system/im-${on}`,
  namespace: 'longhorn-system',
  rule: 'at least 1 up',
  allowed: 0,
  healthy: 1,
  desired: 1,
  expected: 1,
  granted: 0,
  isCounted: true,
})

function tell(fixture: Fixture) {
  const board = buildLonghornPanel(longhornSeen(fixture))
  return viewCluster({
    nodes: [node('n1', fixture.nodes['n1']?.isCordoned), node('n2')],
    pods: [manager('n1'), manager('n2')],
    budgets: [budget('n1'), budget('n2')],
    drains: [],
    ledgers: [],
    longhorn: [board],
    events: [],
  })
}

describe('the board of Longhorn', () => {
  it('says what is on each node, and of those that leave what holds them and how far they are', () => {
    const { places, keeps, volumes } = buildLonghornPanel(longhornSeen(moving))
    expect(volumes).toEqual({ total: 1, healthy: 1, degraded: 0, faulted: 0, unknown: 0 })
    expect(places).toEqual([
      {
        node: 'n1',
        replicas: 1,
        attached: 0,
        leaving: {
          mayDrain: false,
          reason: 'ReplicaMoving',
          explanation: expect.stringContaining('v1-n1'),
          held: 1,
          moving: 1,
          moves: { 'not-begun': 0, waiting: 0, copying: 1, copied: 0 },
          progress: {
            bytesLeft: 300 * mib,
            bytes: 400 * mib,
            since: '1969-12-31T23:59:50Z',
            bytesPerSecond: 10 * mib,
            secondsLeft: 30,
          },
          holders: [
            {
              object: 'replica/v1-n1',
              reason: 'ReplicaMoving',
              explanation: expect.stringContaining('v1-n1'),
              wayOut: expect.any(String),
            },
          ],
        },
      },
      { node: 'n2', replicas: 1, attached: 1 },
    ])
    expect(keeps).toEqual([
      { budget: 'longhorn-system/im-n1', node: 'n1', reason: 'ReplicaMoving' },
      { budget: 'longhorn-system/im-n2', node: 'n2', reason: 'NotCordoned' },
    ])
  })

  it('of a node with a thousand holders shows a few, and counts them all', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `v${index}`)
    const volumes = Object.fromEntries(names.map((name) => [name, { copies: { n1: 'healthy' } } as const]))
    const { places } = buildLonghornPanel(longhornSeen({ nodes: { n1: { isCordoned: true }, n2: {} }, volumes }))
    expect(places[0]?.leaving).toMatchObject({ held: 1000, holders: { length: 5 } })
  })
})

describe('the story of a cluster with Longhorn', () => {
  it('is calm while all nodes are open, though the budgets of instance managers spare nothing', () => {
    expect(tell(calm).headline).toEqual({
      tone: 'calm',
      says: 'All 2 nodes are ready, and no budget is blocked.',
      more: [],
    })
    expect(tell(calm).counts).toMatchObject({ budgets: 0, budgetsFree: 0 })
  })

  it('tells of a node that waits for its replicas how far they are, instead of a budget that holds a pod', () => {
    expect(tell(moving).headline).toEqual({
      tone: 'busy',
      says: 'n1 is cordoned. n1 waits for Longhorn: 100 MiB of 400 MiB moved, 10 MiB/s, about 30 s left.',
      more: [],
    })
  })

  it('says what holds a node whose replicas are not being copied, and no time at which that will end', () => {
    expect(tell(waiting).headline).toMatchObject({
      says: 'n1 is cordoned. Longhorn holds n1: Replica v1-n1 of volume v1 (attached by an unknown client on n2) is to leave node n1, and is not being copied: Longhorn has made no copy yet.',
    })
    const [place] = tell(waiting).zones.flatMap(({ nodes }) => nodes.flatMap(({ longhorn }) => longhorn ?? []))
    expect(place === undefined ? '' : placeText(place)).toBe(
      'Longhorn: 1 replica to move (1 waiting), 100 MiB of 400 MiB moved; nothing is being copied now',
    )
  })

  it('each node says what Longhorn has on it', () => {
    const lines = tell(moving).zones.flatMap(({ nodes }) =>
      nodes.map(({ longhorn }) => (longhorn === undefined ? [] : [placeText(longhorn), movedShare(longhorn)])),
    )
    expect(lines).toEqual([
      ['Longhorn: 1 replica to move, 100 MiB of 400 MiB moved, 10 MiB/s, about 30 s left', 0.25],
      ['Longhorn: 1 replica, 1 volume in use', undefined],
    ])
  })
})
