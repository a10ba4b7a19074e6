import { describe, expect, it } from 'vitest'
import { decideEvictionAttachments } from './eviction-attachments.ts'
import { type Fixture, longhornFixture } from './testing/longhorn-fixture.ts'

const leaving = { isEvictionRequested: true }
const three = { n1: { isCordoned: true }, n2: {}, n3: {} }
const detached = { state: 'detached', robustness: 'unknown', numberOfReplicas: 2 } as const
const copies = { n1: leaving, n2: 'healthy' } as const
const own = (node: string) => ({ id: 'cofferdam-eviction-v', type: 'volume-eviction-controller', node })
const workload = { id: 'csi-1', type: 'csi-attacher', node: 'n3' }

/** `v@n2`: attached there; `v-`: the ticket is taken back; `v?`: there is no place for a copy. */
function told(fixture: Fixture): string {
  const { changes, withoutPlace } = decideEvictionAttachments(longhornFixture(fixture))
  return [
    ...changes.map(({ volume, node }) => (node === undefined ? `${volume}-` : `${volume}@${node}`)),
    ...withoutPlace.map((volume) => `${volume}?`),
  ].join(' ')
}

const scenarios: Readonly<Record<string, readonly [Fixture, string]>> = {
  'a detached volume with a replica that is to leave is attached where a copy stays': [
    { nodes: three, volumes: { v: { ...detached, copies } } },
    'v@n2',
  ],
  'where no copy stays it is attached to any node that is well, never to the one that leaves': [
    { nodes: three, volumes: { v: { ...detached, numberOfReplicas: 1, copies: { n1: leaving } } } },
    'v@n2',
  ],
  'the node with fewer volumes is taken': [
    {
      nodes: { ...three, n2: { manager: { engines: ['x'] } } },
      volumes: { v: { ...detached, numberOfReplicas: 1, copies: { n1: leaving } } },
    },
    'v@n3',
  ],
  'volumes that are attached at once are spread': [
    {
      nodes: three,
      volumes: {
        v: { ...detached, numberOfReplicas: 1, copies: { n1: leaving } },
        w: { ...detached, numberOfReplicas: 1, copies: { n1: leaving } },
      },
    },
    'v@n2 w@n3',
  ],
  'a node that does not answer is not chosen, though it has a copy': [
    { nodes: { ...three, n2: { kubernetes: 'silent' } }, volumes: { v: { ...detached, copies } } },
    'v@n3',
  ],
  'nor one that somebody drains, nor one that is to be emptied, nor one without a running instance manager': [
    {
      nodes: {
        ...three,
        n2: { isDraining: true },
        n3: { isEvictionAsked: true },
        n4: { manager: { isRunning: false } },
        n5: {},
      },
      volumes: { v: { ...detached, copies } },
    },
    'v@n5',
  ],
  'nor one whose instance manager runs another data engine': [
    {
      nodes: { n1: { isCordoned: true }, n2: { manager: { dataEngine: 'v2' } }, n3: {} },
      volumes: { v: { ...detached, numberOfReplicas: 1, copies: { n1: leaving } } },
    },
    'v@n3',
  ],
  'where no node is well nothing is attached': [
    {
      nodes: { n1: { isCordoned: true }, n2: { isDraining: true } },
      volumes: { v: { ...detached, copies: { n1: leaving } } },
    },
    '',
  ],
  'a volume that somebody uses is left alone': [
    { nodes: three, volumes: { v: { copies, state: 'attached', tickets: [workload] } } },
    '',
  ],
  'so is one that is on its way for somebody': [
    { nodes: three, volumes: { v: { ...detached, copies, tickets: [workload] } } },
    '',
  ],
  'one that Longhorn itself attached is left to Longhorn': [
    {
      nodes: three,
      volumes: { v: { ...detached, copies, tickets: [{ ...own('n2'), id: 'volume-eviction-controller-v' }] } },
    },
    '',
  ],
  'a detached volume of which nothing leaves stays detached': [
    { nodes: three, volumes: { v: { ...detached, copies: { n1: 'healthy', n2: 'healthy' } } } },
    '',
  ],
  'a strict-local volume stays detached: attached it would only hold its node': [
    { nodes: three, volumes: { v: { ...detached, isStrictLocal: true, copies: { n1: leaving } } } },
    '',
  ],
  'a faulted volume has nothing to copy from': [
    { nodes: three, volumes: { v: { ...detached, robustness: 'faulted', copies } } },
    '',
  ],
  'what is attached for a move stays attached while it moves': [
    { nodes: three, volumes: { v: { copies, state: 'attached', tickets: [own('n2')] } } },
    '',
  ],
  'it stays while the new copy is built, though no further place is left': [
    {
      nodes: three,
      volumes: {
        v: {
          numberOfReplicas: 2,
          copies: { n1: leaving, n2: 'healthy', n3: 'rebuilding' },
          state: 'attached',
          tickets: [own('n2')],
        },
      },
    },
    '',
  ],
  'when nothing leaves any more the ticket is taken back, so the volume detaches again': [
    {
      nodes: three,
      volumes: { v: { copies: { n2: 'healthy', n3: 'healthy' }, state: 'attached', tickets: [own('n2')] } },
    },
    'v-',
  ],
  'a replica that is being deleted needs no engine any more': [
    {
      nodes: three,
      volumes: {
        v: {
          copies: { n1: { ...leaving, isBeingDeleted: true }, n2: 'healthy', n3: 'healthy' },
          state: 'attached',
          tickets: [own('n2')],
        },
      },
    },
    'v-',
  ],
  'Longhorn asks for the same afterwards, on the node that leaves: ours stays, and the engine where it is': [
    {
      nodes: three,
      volumes: {
        v: { copies, state: 'attached', tickets: [own('n2'), { ...own('n1'), id: 'volume-eviction-controller-v' }] },
      },
    },
    '',
  ],
  'a workload that wants the volume gets it': [
    { nodes: three, volumes: { v: { copies, state: 'attached', tickets: [own('n2'), workload] } } },
    'v-',
  ],
  'when the node of the ticket leaves, the ticket moves to another': [
    {
      nodes: { ...three, n2: { isCordoned: true } },
      volumes: { v: { copies, state: 'attached', numberOfReplicas: 2, tickets: [own('n2')] } },
    },
    'v@n3',
  ],
  'with a copy on every node there is no place, and nothing is attached for nothing': [
    {
      nodes: three,
      volumes: { v: { ...detached, numberOfReplicas: 3, copies: { n1: leaving, n2: 'healthy', n3: 'healthy' } } },
    },
    'v?',
  ],
  'unless copies may share a node': [
    {
      nodes: three,
      volumes: {
        v: {
          ...detached,
          numberOfReplicas: 3,
          sharesNodes: true,
          copies: { n1: leaving, n2: 'healthy', n3: 'healthy' },
        },
      },
    },
    'v@n2',
  ],
  'another disk of the same node is a place, where a user empties only one': [
    {
      nodes: {
        n1: {
          disks: [
            { uuid: 'disk-n1', isEvictionAsked: true },
            { uuid: 'second', isEvictionAsked: false },
          ],
        },
        n2: {},
      },
      volumes: { v: { ...detached, copies } },
    },
    'v@n2',
  ],
  'a node to which Longhorn gives no replicas is no place': [
    { nodes: { ...three, n3: { takesReplicas: false } }, volumes: { v: { ...detached, copies } } },
    'v?',
  ],
}

describe('attachments for a move', () => {
  it.each(Object.entries(scenarios))('%s', (_, [fixture, expected]) => {
    expect(told(fixture)).toBe(expected)
  })
})
