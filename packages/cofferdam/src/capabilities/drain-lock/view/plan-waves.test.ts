import { expect, it } from 'vitest'
import { planWaves } from './plan-waves.ts'
import type { WaveNeeds } from './waves/wave-needs.ts'

const need = (node: string, change: Partial<Omit<WaveNeeds, 'node'>> = {}): WaveNeeds => ({
  node,
  claims: [{ key: `node/${node}`, scope: '' }, ...(change.claims ?? [])],
  leaves: change.leaves ?? [],
})
const ceph = (scope: string) => ({ key: 'storage/rook-ceph/rook-ceph', scope })
const place = (name: string, most: number) => ({ key: `limit/${name}`, scope: '', most })
const leaving = (pods: number, room: number) => ({ key: 'pdb/shop/orders', pods, room })
const orders = { key: 'pdb/shop/orders', scope: '' }

const rows: Record<string, { given: WaveNeeds[]; then: string[][] }> = {
  'no nodes make no wave': { given: [], then: [] },
  'nodes that need nothing of each other go together': { given: [need('a'), need('b')], then: [['a', 'b']] },
  'nodes of one failure domain go together, those of another follow: two domains down would stop the data': {
    given: [
      need('a1', { claims: [ceph('a')] }),
      need('b1', { claims: [ceph('b')] }),
      need('a2', { claims: [ceph('a')] }),
    ],
    then: [['a1', 'a2'], ['b1']],
  },
  'two nodes with pods of one budget that stay follow each other: both replicas would be down': {
    given: [need('a', { claims: [orders] }), need('b', { claims: [orders] }), need('c')],
    then: [['a', 'c'], ['b']],
  },
  'a pod that leaves does not go beside one of its budget that stays: its eviction would be refused': {
    given: [need('a', { claims: [orders] }), need('b', { leaves: [leaving(1, 1)] })],
    then: [['a'], ['b']],
  },
  'pods of one budget leave together as far as it has room': {
    given: ['a', 'b', 'c'].map((name) => need(name, { leaves: [leaving(1, 2)] })),
    then: [['a', 'b'], ['c']],
  },
  'nodes whose pods a budget does not let go together follow each other: each would wait for a pod that only the other node can take':
    {
      given: ['a', 'b'].map((name) => need(name, { leaves: [leaving(1, 1)] })),
      then: [['a'], ['b']],
    },
  'a node with more pods of a budget than may be away goes alone: they leave one after the other': {
    given: [need('a', { leaves: [leaving(3, 2)] }), need('b', { leaves: [leaving(1, 2)] })],
    then: [['a'], ['b']],
  },
  'nodes of the control plane go one at a time, beside others: etcd would lose its majority': {
    given: [
      need('c1', { claims: [place('control-plane', 1)] }),
      need('c2', { claims: [place('control-plane', 1)] }),
      need('w1'),
    ],
    then: [['c1', 'w1'], ['c2']],
  },
  'no wave has more nodes than a limit on nodes in maintenance allows': {
    given: ['a', 'b', 'c', 'd', 'e'].map((name) => need(name, { claims: [place('all', 2)] })),
    then: [['a', 'b'], ['c', 'd'], ['e']],
  },
  'a limit of 0 lets no node go now, and each waits in a wave of its own': {
    given: ['a', 'b'].map((name) => need(name, { claims: [place('all', 0)] })),
    then: [['a'], ['b']],
  },
}
it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
  expect(planWaves(given).waves).toEqual(then)
})
