import { expect, it } from 'vitest'
import { planWaves, type WaveNeeds } from './plan-waves.ts'

const need = (node: string, change: Partial<Omit<WaveNeeds, 'node'>> = {}): WaveNeeds => ({
  node,
  claims: [{ key: `node/${node}`, scope: '' }, ...(change.claims ?? [])],
  leaves: change.leaves ?? [],
  isControlPlane: change.isControlPlane ?? false,
})
const ceph = (scope: string) => ({ key: 'storage/rook-ceph/rook-ceph', scope })
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
    given: [need('a', { claims: [orders] }), need('b', { leaves: ['pdb/shop/orders'] })],
    then: [['a'], ['b']],
  },
  'pods of one budget that all leave go together: each eviction is counted': {
    given: [need('a', { leaves: ['pdb/shop/orders'] }), need('b', { leaves: ['pdb/shop/orders'] })],
    then: [['a', 'b']],
  },
  'nodes of the control plane go last and one at a time: etcd would lose its majority': {
    given: [need('c1', { isControlPlane: true }), need('c2', { isControlPlane: true }), need('w1')],
    then: [['w1'], ['c1'], ['c2']],
  },
}
it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
  expect(planWaves(given)).toEqual(then)
})
