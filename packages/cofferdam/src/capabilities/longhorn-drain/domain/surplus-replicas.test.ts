import { describe, expect, it } from 'vitest'
import { IndexedSnapshot } from './longhorn-index.ts'
import { isHealthy, isUnused } from './protection.ts'
import type { ReplicaView } from './snapshot.ts'
import { decideSurplus } from './surplus-replicas.ts'
import { type Fixture, longhornFixture, type NodeSetting, type VolumeSetting } from './testing/longhorn-fixture.ts'

type Copies = VolumeSetting['copies']

const four: Copies = { n1: 'healthy', n2: 'healthy', n3: 'healthy', n4: 'healthy' }

/** A volume that wants three copies and has four. */
function surplusOf(given: {
  readonly copies?: Copies
  readonly volume?: Partial<VolumeSetting>
  readonly nodes?: Readonly<Record<string, NodeSetting>>
  readonly surplus?: NonNullable<Fixture['surplus']>
}) {
  const nodes = { n1: {}, n2: {}, n3: {}, n4: {}, ...given.nodes }
  const volume: VolumeSetting = { copies: given.copies ?? four, numberOfReplicas: 3, ...given.volume }
  const snapshot = longhornFixture({ nodes, volumes: { v: volume }, surplus: given.surplus ?? 'remove' })
  const index = new IndexedSnapshot()
  index.update(snapshot)
  return decideSurplus(index, 'v')
}

const removed: Readonly<Record<string, readonly [Parameters<typeof surplusOf>[0], readonly string[]]>> = {
  'is the youngest': [{ copies: { ...four, n2: { healthyAt: '2026-01-05T00:00:00Z' } } }, ['v-n2']],
  'is the last by name where all are of one age, in whatever order they come': [
    { copies: { n4: 'healthy', n1: 'healthy', n3: 'healthy', n2: 'healthy' } },
    ['v-n4'],
  ],
  'is the last by name where all are of one age': [{}, ['v-n4']],
  'is not the one where the volume is attached: its data would be read over the network': [
    { volume: { attachedTo: 'n4' } },
    ['v-n3'],
  ],
  'are as many as there are too many': [{ volume: { numberOfReplicas: 2 } }, ['v-n4', 'v-n3']],
  'is none where all are wanted': [{ volume: { numberOfReplicas: 4 } }, []],
  'is none where the wish is nonsense: it would take all of them': [{ volume: { numberOfReplicas: 0 } }, []],
  'is none where the administrator keeps them': [{ surplus: 'keep' }, []],
  'is none of a volume that is not attached: no engine says which copy is whole': [
    { volume: { state: 'detached' } },
    [],
  ],
  'is none of a volume that is degraded': [{ volume: { robustness: 'degraded' } }, []],
  'is none while a copy has failed: the one too many is what replaces it': [{ copies: { ...four, n1: 'failed' } }, []],
  'is none while a copy is being rebuilt': [{ copies: { ...four, n1: 'rebuilding' } }, []],
  'is none while a copy is being deleted': [{ copies: { ...four, n1: { isBeingDeleted: true } } }, []],
  'is none while a copy stands still': [{ copies: { ...four, n1: { isStopped: true } } }, []],
  'is none while a copy is asked to leave': [{ copies: { ...four, n1: { isEvictionRequested: true } } }, []],
  'is none while a node with a copy is cordoned': [{ nodes: { n1: { isCordoned: true } } }, []],
  'is none while a node with a copy is drained': [{ nodes: { n1: { isDraining: true } } }, []],
  'is none while a node is asked to give up its copies': [{ nodes: { n1: { isEvictionAsked: true } } }, []],
  'is none while the disk of a copy is asked to': [
    { nodes: { n1: { disks: [{ name: 'd1', uuid: 'disk-n1', isEvictionAsked: true, allowScheduling: true }] } } },
    [],
  ],
  'is the usual one while another disk of a node is asked to': [
    { nodes: { n1: { disks: [{ name: 'd2', uuid: 'other', isEvictionAsked: true, allowScheduling: true }] } } },
    ['v-n4'],
  ],
  'is none where a copy that stays has no budget: it would not be held': [{ nodes: { n1: { hasBudget: false } } }, []],
}

describe('the copy that is one too many', () => {
  it.each(Object.entries(removed))('%s', (_, [given, then]) => {
    expect(surplusOf(given)).toEqual({ remove: then, kept: undefined })
  })

  const kept: Readonly<Record<string, readonly [Parameters<typeof surplusOf>[0], string]>> = {
    'while an engine is upgraded': [{ volume: { unsettled: 'its engine is upgraded' } }, 'its engine is upgraded'],
    'while a double may be the same data': [
      { copies: { ...four, n1: { directory: '' } } },
      'the data directory of replica v-n1 is not known',
    ],
  }
  it.each(Object.entries(kept))('is kept %s, and that is said', (_, [given, why]) => {
    expect(surplusOf(given)).toEqual({
      remove: [],
      kept: `Volume v has 4 copies and wants 3. None is removed now: ${why}.`,
    })
  })
})

it('a copy is healthy only if it was written whole, has not failed since and stays', () => {
  const times = (healthyAt: string, failedAt: string, isBeingDeleted = false) =>
    ({ healthyAt, failedAt, isBeingDeleted }) as ReplicaView
  const copies = [times('t', ''), times('t', 't'), times('', ''), times('', 't'), times('t', '', true)]
  expect(copies.map(isHealthy)).toEqual([true, false, false, false, false])
  expect(copies.map(isUnused)).toEqual([false, false, true, false, false])
})

it('of copies of one age the last by name goes, though the index has them in another order', () => {
  const order = ['n3', 'n1', 'n4', 'n2'].map((node) => [node, 'healthy'] as const)
  expect(surplusOf({ copies: Object.fromEntries(order) }).remove).toEqual(['v-n4'])
})
