import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import type { UpdatableOsd } from '../capabilities/osd-update/domain/snapshot.ts'
import type { SeenUpdate } from '../capabilities/osd-update/view/summarize-update.ts'
import { explainCephCluster } from './explain-ceph-cluster.ts'
import { explainOsd } from './explain-osd.ts'
import type { GuardSnapshot } from './snapshot.ts'
import { earlier, osdBudget, osdPod, storageView } from './testing/sample-objects.ts'

function osd(id: number, needsUpdate = false): UpdatableOsd {
  return { id, deployment: `rook-ceph-osd-${id}`, needsUpdate, isPodReady: true, hasStalled: false }
}

const seen: SeenUpdate = {
  cluster: {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph' },
  },
  mode: 'own',
  isNamed: true,
  report: undefined,
  osds: [0, 1, 2].map((id) => osd(id)),
  growth: undefined,
  isAttended: true,
}

const inX = osdPod(0, { zone: 'zone-x', node: 'node-a' })
const inY = osdPod(1, { zone: 'zone-y', node: 'node-b' })
const inZ = osdPod(2, { zone: 'zone-z', node: 'node-c' })
const leaving = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: earlier } })
const unready = (pod: Pod): Pod => ({
  ...pod,
  status: { ...pod.status, conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: earlier }] },
})

const xIsOpen = {
  budgets: [osdBudget('zone-y'), osdBudget('zone-z')],
  storage: [storageView()],
}
const calm = { budgets: [osdBudget()], storage: [storageView({ openDomains: [], domains: [] })] }

type Given = Pick<GuardSnapshot, 'budgets' | 'storage'> & { readonly pods: readonly Pod[] }

interface Case {
  readonly given: Given
  readonly mayGo: boolean
  readonly domains: string[]
  readonly says?: string[]
  readonly summary?: string
}

const clusters: Record<string, Case> = {
  'with every budget open a node of any zone may be drained': {
    given: { ...calm, pods: [inX, inY, inZ] },
    mayGo: true,
    domains: ['zone-x free', 'zone-y free', 'zone-z free'],
    summary: 'A node with OSDs of it may be drained now, in any zone, one zone at a time.',
  },
  'while one zone is drained its nodes may go, and whoever asks hears that the others are held': {
    given: { ...xIsOpen, pods: [inX, inY, inZ] },
    mayGo: true,
    domains: ['zone-x free', 'zone-y held: DomainOpen', 'zone-z held: DomainOpen'],
    summary: 'Nodes of zone zone-x may be drained now; 2 others are held.',
  },
  'once the open zone is empty no node may go: a second zone would take the data out of reach': {
    given: { ...xIsOpen, pods: [unready(inX), inY, inZ] },
    mayGo: false,
    domains: ['zone-x away', 'zone-y held: DomainOpen', 'zone-z held: DomainOpen'],
    summary: 'No node with OSDs of it may be drained now.',
  },
  'an OSD that is leaving does not make its zone free': {
    given: { ...xIsOpen, pods: [leaving(inX), inY] },
    mayGo: false,
    domains: ['zone-x away', 'zone-y held: DomainOpen'],
  },
  'a zone that may not be away as a whole is held even where a budget would spare one of its OSDs': {
    given: {
      ...calm,
      storage: [
        storageView({
          openDomains: [],
          domains: [
            {
              domain: 'zone-y',
              osds: [1],
              nodes: ['node-b'],
              mayDrain: false,
              reason: 'SafetyUnknown',
              explanation: 'Ceph does not answer',
            },
          ],
        }),
      ],
      pods: [inX, inY],
    },
    mayGo: true,
    domains: ['zone-x free', 'zone-y held: SafetyUnknown'],
  },
  'a zone with a dead host is down first of all, and what may go is its rest: "May go" would send people to it at 3 a.m.':
    {
      given: { ...xIsOpen, pods: [inX, unready(osdPod(3, { zone: 'zone-x', node: 'node-d' })), inY, inZ] },
      mayGo: true,
      domains: ['zone-x free', 'zone-y held: DomainOpen', 'zone-z held: DomainOpen'],
      says: ['Down (1 of 2 nodes): its rest may go', 'Held', 'Held'],
      summary: 'What is left of zone zone-x may be drained now; 2 others are held.',
    },
  'where a disk is dead and its host lives, OSDs are counted': {
    given: { ...xIsOpen, pods: [inX, unready(osdPod(3, { zone: 'zone-x', node: 'node-a' })), inY] },
    mayGo: true,
    domains: ['zone-x free', 'zone-y held: DomainOpen'],
    says: ['Down (1 of 2 OSDs): its rest may go', 'Held'],
  },
  'a held zone with a dead host says both': {
    given: { ...xIsOpen, pods: [inX, inY, unready(osdPod(3, { zone: 'zone-y', node: 'node-d' }))] },
    mayGo: true,
    domains: ['zone-x free', 'zone-y held: DomainOpen'],
    says: ['May go', 'Down (1 of 2 nodes): its rest may not go now'],
  },
  'a cluster none of whose OSDs runs is in nobody’s way': {
    given: { ...calm, pods: [] },
    mayGo: true,
    domains: [],
    summary: 'None of its OSDs runs, so none blocks a drain.',
  },
}

describe('in which failure domains may nodes be drained now', () => {
  it.each(Object.entries(clusters))('%s', (_sentence, { given, mayGo, domains, says, summary }) => {
    const told = explainCephCluster(given, { seen, osdPods: given.pods })
    expect(told.mayGo).toBe(mayGo)
    expect(told.blockers.length === 0).toBe(mayGo)
    expect(
      told.domains.map(({ domain, state, blockers }) =>
        [`${domain} ${state}`, ...blockers.map(({ reason }) => reason)].join(': '),
      ),
    ).toEqual(domains)
    if (says !== undefined) expect(told.domains.map((each) => each.says)).toEqual(says)
    if (summary !== undefined) expect(told.summary).toBe(summary)
  })
})

const needy: SeenUpdate = { ...seen, osds: [osd(1, true)] }

const osds: Record<string, { given: Given; osdPods: Pod[]; seen?: SeenUpdate; mayGo: boolean; summary: string }> = {
  'one in a held zone may not go, however finished its update is: whoever evicts it takes data out of reach': {
    given: { ...xIsOpen, pods: [inX, inY, inZ] },
    osdPods: [inY],
    mayGo: false,
    summary: 'Its pod may not be evicted now.',
  },
  'one whose update has not begun and waits may go all the same where its budget spares it': {
    given: { ...calm, pods: [inX, inY, inZ] },
    osdPods: [inY],
    seen: needy,
    mayGo: true,
    summary: 'Its pod may be evicted now.',
  },
  'one that is leaving is not in the way': {
    given: { ...xIsOpen, pods: [leaving(inX), inY] },
    osdPods: [leaving(inX)],
    mayGo: true,
    summary: 'Its pod is already terminating.',
  },
  'one without a pod has nothing to evict': {
    given: { ...xIsOpen, pods: [inY] },
    osdPods: [],
    mayGo: true,
    summary: 'It has no pod, so there is nothing to evict.',
  },
}

describe('may this OSD be evicted now', () => {
  it.each(Object.entries(osds))('%s', (_sentence, { given, osdPods, seen: update = seen, mayGo, summary }) => {
    const told = explainOsd(given, { osd: 1, object: 'osd/rook-ceph/1', osdPods, seen: update })
    expect({ mayGo: told.mayGo, summary: told.summary }).toEqual({ mayGo, summary })
    expect(told.blockers.length === 0).toBe(mayGo)
    expect(told.osdUpdate.state).toBe(update === needy ? 'waits' : 'done')
  })
})
