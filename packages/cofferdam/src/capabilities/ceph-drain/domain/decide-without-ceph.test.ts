import { expect, it } from 'vitest'
import { defaultSettings } from '../../../safety/ceph-settings.ts'
import { known, unknown } from '../../../shared/observed.ts'
import type { OsdView } from '../../../shared/parse-osd.ts'
import { decideCephDrain } from './decide.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import { calmState } from './state-map.ts'
import { inWords, ours } from './testing/fixture.ts'

const osd = (id: number, zone: number): OsdView => ({
  id,
  isReady: true,
  isBeingReplaced: false,
  nodeName: known(`node-${zone}`),
  topology: { host: `node-${zone}`, zone: `zone-${zone}` },
})

const silent: CephDrainSnapshot = {
  nowMs: Date.UTC(2026, 0, 1),
  cluster: { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1', mode: 'manage', settings: defaultSettings },
  osds: [osd(0, 1), osd(1, 2), osd(2, 2), osd(3, 3)],
  nodes: [1, 2, 3].map((zone) => ({ name: `node-${zone}`, isClosed: false })),
  ceph: unknown('no answer within 15 s'),
  cephSilentMs: 1_000,
  state: { ...calmState, openDomains: ['zone-2'] },
  budgets: ours('zone-1', 'osds 2,3'),
}

it('while Ceph is silent for a moment, an OSD that was held by number in a released zone stays held', () => {
  expect(inWords(decideCephDrain(silent).budgets)).toEqual(['osds 2,3', 'zone-1'])
})

it('an OSD that nobody can place is held, and does not set another one free that was held by number', () => {
  const stranger: OsdView = { ...osd(99, 1), nodeName: unknown('nobody knows'), topology: {} }
  const { budgets } = decideCephDrain({ ...silent, osds: [...silent.osds, stranger] })
  expect(inWords(budgets)).toEqual(['osds 2,99', 'zone-1', 'zone-3'])
})

it('an answer that is too old tells the type of failure domains and nothing else', () => {
  const old = decideCephDrain({
    ...silent,
    ceph: known({ failureDomainType: 'zone', nooutBuckets: [], domains: [] } as never),
    cephSilentMs: 600_000,
  })
  expect([old.failureDomainType, old.reason]).toEqual(['zone', 'CephSilent'])
  expect(old.explanation).toContain('(the last answer is too old)')
})

it('an OSD without a zone on a lost node is lost all the same: nothing more may go', () => {
  const nodes = silent.nodes.map((node) =>
    node.name === 'node-1' ? { ...node, lost: { why: 'is NotReady', sinceMs: silent.nowMs } } : node,
  )
  const { reason } = decideCephDrain({ ...silent, nodes, osds: [{ ...osd(0, 1), topology: {} }, osd(3, 3)] })
  expect(reason).toBe('CephSilent')
})
