import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import type { BesideOsds } from './daemon-budgets.ts'
import { decideStaticBudgets, removableMons, type StaticBudgetInput } from './static-budgets.ts'

const quorum = (mons: number, inQuorum = mons) => known({ mons, inQuorum })

const bare: StaticBudgetInput = {
  cluster: { namespace: 'rook-ceph', mode: 'manage' },
  monCount: 1,
  mgrCount: 1,
  quorum: quorum(1),
  isSilenceBrief: false,
  filesystems: [],
  objectStores: [],
  rbdMirrors: [],
  nvmeof: [],
  filesystemMirrors: [],
  nfs: [],
  existing: [],
}

const owner = (kind: string, name: string): OwnerReference => ({ apiVersion: 'ceph.rook.io/v1', kind, name, uid: 'u' })

function old(name: string, spec: PodDisruptionBudget['spec'], ...owners: OwnerReference[]): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name,
      namespace: 'rook-ceph',
      labels: { 'app.kubernetes.io/managed-by': 'cofferdam' },
      ...(owners.length === 0 ? {} : { ownerReferences: owners }),
    },
    spec,
  }
}

/** The same without our mark. */
const byRook = ({ metadata, ...rest }: PodDisruptionBudget): PodDisruptionBudget => {
  const { labels: _, ...unmarked } = metadata
  return { ...rest, metadata: unmarked }
}

/** A pod that is not ready may go: it serves nobody. */
const unready = { unhealthyPodEvictionPolicy: 'AlwaysAllow' } as const

const store = (instances: number) => ({ objectStores: [{ name: 'shop', uid: 'u', instances }] })
const rgw = (minAvailable: number) =>
  old(
    'rook-ceph-rgw-shop',
    { minAvailable, selector: { matchLabels: { rgw: 'shop' } }, ...unready },
    owner('CephObjectStore', 'shop'),
  )
const fs = (activeCount: number, activeStandby: boolean) => ({
  filesystems: [{ name: 'home', uid: 'u', activeCount, activeStandby }],
})
const mds = (minAvailable: number) =>
  old(
    'rook-ceph-mds-home',
    { minAvailable, selector: { matchLabels: { rook_file_system: 'home' } } },
    owner('CephFilesystem', 'home'),
  )
const mon = (maxUnavailable: number) =>
  old('rook-ceph-mon-pdb', { maxUnavailable, selector: { matchLabels: { app: 'rook-ceph-mon' } } })
const mgr = old('rook-ceph-mgr-pdb', { maxUnavailable: 1, selector: { matchLabels: { app: 'rook-ceph-mgr' } } })

const servers = (active: number) => ({ nfs: [{ name: 'files', uid: 'u', active }] })
const nfs = (spec: Omit<PodDisruptionBudget['spec'], 'selector'>, without: readonly string[] = []) => {
  const matchExpressions = [{ key: 'ceph_daemon_id', operator: 'NotIn', values: without }] as const
  const matchLabels = { app: 'rook-ceph-nfs', ceph_nfs: 'files' }
  const selector = without.length === 0 ? { matchLabels } : { matchLabels, matchExpressions }
  return old('rook-ceph-nfs-files', { ...spec, selector }, owner('CephNFS', 'files'))
}
function besideOf(given: {
  readonly pinned: boolean
  readonly held: readonly string[]
  readonly leaving?: readonly string[]
  readonly away?: readonly string[]
}): BesideOsds {
  return {
    daemons: [],
    turn: { domains: [], heldNodes: Object.fromEntries(given.held.map((node) => [node, 'osd.0'])), openNodes: [] },
    leavingNodes: new Set(given.leaving ?? []),
    nowMs: 90_000,
    memory: {},
    services: ['a', 'b'].map((letter) => ({
      type: 'nfs',
      budget: 'rook-ceph-nfs-files',
      id: `files-${letter}`,
      nodeName: `node-${letter}`,
      isPinned: given.pinned,
      isReady: given.away?.includes(`files-${letter}`) !== true,
    })),
  }
}

interface Row {
  readonly given: Partial<StaticBudgetInput>
  readonly desired?: readonly PodDisruptionBudget[]
  readonly release?: readonly PodDisruptionBudget[]
  readonly remove?: readonly string[]
  readonly problems?: number
}

const besideRook = (mode: StaticBudgetInput['cluster']['mode'], managesBudgets: boolean) =>
  ({ namespace: 'rook-ceph', mode, rook: { managesBudgets } }) as const
/** As it is while the OSDs beside mons have to stay. */
const heldMon = old('rook-ceph-mon-pdb', {
  maxUnavailable: 0,
  selector: {
    matchLabels: { app: 'rook-ceph-mon' },
    matchExpressions: [{ key: 'ceph_daemon_id', operator: 'NotIn', values: ['a'] }],
  },
})
const closedMgr = old('rook-ceph-mgr-pdb', { maxUnavailable: 0, selector: { matchLabels: { app: 'rook-ceph-mgr' } } })
const nfsBudget = old(
  'rook-ceph-nfs-files',
  { minAvailable: 2, selector: { matchLabels: { app: 'rook-ceph-nfs', ceph_nfs: 'files' } } },
  owner('CephNFS', 'files'),
)

const rows: Record<string, Row> = {
  'one gateway and no budget: nothing to do': { given: store(1) },
  'two gateways: one must stay': { given: store(2), desired: [rgw(1)] },
  '#17700: gateways go from two to one: the budget that would block every drain goes': {
    given: { ...store(1), existing: [rgw(1)] },
    remove: ['rook-ceph-rgw-shop'],
  },
  'gateways go from five to two: the budget follows down': {
    given: { ...store(2), existing: [rgw(4)] },
    desired: [rgw(1)],
  },
  'gateways go from two to five: the budget follows up': {
    given: { ...store(5), existing: [rgw(1)] },
    desired: [rgw(4)],
  },
  'a store is deleted: its budget goes': { given: { existing: [rgw(1)] }, remove: ['rook-ceph-rgw-shop'] },
  'one active MDS without standby, with an old budget: it goes': {
    given: { ...fs(1, false), existing: [mds(1)] },
    remove: ['rook-ceph-mds-home'],
  },
  'one active MDS without standby: none': { given: fs(1, false) },
  'one active MDS with standby: one must stay': { given: fs(1, true), desired: [mds(1)] },
  'three active MDS with standby: three must stay': { given: fs(3, true), desired: [mds(3)] },
  'rbd-mirror and NFS are protected from two on': {
    given: {
      rbdMirrors: [
        { name: 'far', uid: 'u', count: 2 },
        { name: 'lone', uid: 'u', count: 1 },
      ],
      nfs: [{ name: 'files', uid: 'u', active: 3 }],
    },
    desired: [
      old(
        'rook-ceph-nfs-files',
        { minAvailable: 2, selector: { matchLabels: { app: 'rook-ceph-nfs', ceph_nfs: 'files' } }, ...unready },
        owner('CephNFS', 'files'),
      ),
      old(
        'rook-ceph-rbd-mirror-far',
        {
          minAvailable: 1,
          selector: { matchLabels: { app: 'rook-ceph-rbd-mirror', 'app.kubernetes.io/part-of': 'far' } },
          ...unready,
        },
        owner('CephRBDMirror', 'far'),
      ),
    ],
  },
  'NVMe-oF gateways and cephfs-mirrors are protected from two on: two drains do not take both paths to a disk': {
    given: {
      nvmeof: [
        { name: 'blocks', uid: 'u', instances: 2 },
        { name: 'lone', uid: 'u', instances: 1 },
      ],
      filesystemMirrors: [
        { name: 'far', uid: 'u', daemons: 2 },
        { name: 'usual', uid: 'u', daemons: 1 },
      ],
    },
    desired: [
      old(
        'rook-ceph-fs-mirror-far',
        {
          minAvailable: 1,
          selector: { matchLabels: { app: 'rook-ceph-fs-mirror', 'app.kubernetes.io/part-of': 'far' } },
          ...unready,
        },
        owner('CephFilesystemMirror', 'far'),
      ),
      old(
        'rook-ceph-nvmeof-blocks',
        {
          minAvailable: 1,
          selector: { matchLabels: { app: 'rook-ceph-nvmeof', 'app.kubernetes.io/part-of': 'blocks' } },
          ...unready,
        },
        owner('CephNVMeOFGateway', 'blocks'),
      ),
    ],
  },
  'the gateway is scaled to one: its budget would hold every drain, and goes': {
    given: {
      nvmeof: [{ name: 'blocks', uid: 'u', instances: 1 }],
      existing: [old('rook-ceph-nvmeof-blocks', { minAvailable: 1 }, owner('CephNVMeOFGateway', 'blocks'))],
    },
    remove: ['rook-ceph-nvmeof-blocks'],
  },
  'servers that cannot move, beside OSDs that must stay: none may go, and an unready one neither': {
    given: { ...servers(2), beside: besideOf({ pinned: true, held: ['node-a', 'node-b'] }) },
    desired: [nfs({ maxUnavailable: 0 })],
  },
  'the OSDs of one node may go: its server may follow, and no other': {
    given: {
      ...servers(2),
      beside: besideOf({ pinned: true, held: ['node-b'], leaving: ['node-a', 'node-b'] }),
      existing: [nfs({ maxUnavailable: 0 })],
    },
    desired: [nfs({ maxUnavailable: 0 }, ['files-a'])],
  },
  'one server is away: no other may follow, whatever OSDs may': {
    given: {
      ...servers(2),
      beside: besideOf({ pinned: true, held: ['node-b'], leaving: ['node-a'], away: ['files-b'] }),
      existing: [nfs({ maxUnavailable: 0 })],
    },
    desired: [nfs({ minAvailable: 1 })],
  },
  'servers that can move go by their number, whatever OSDs are beside them': {
    given: { ...servers(2), beside: besideOf({ pinned: false, held: ['node-a', 'node-b'] }) },
    desired: [nfs({ minAvailable: 1, ...unready })],
  },
  'servers that cannot move, without OSDs beside them, go by their number': {
    given: { ...servers(2), beside: besideOf({ pinned: true, held: [] }) },
    desired: [nfs({ minAvailable: 1 })],
  },
  'it is not decided about OSDs yet: a budget by number stays as it is': {
    given: {
      ...servers(2),
      beside: { ...besideOf({ pinned: true, held: [] }), turn: undefined },
      existing: [nfs({ minAvailable: 1 })],
    },
    desired: [nfs({ minAvailable: 1 })],
  },
  'one mon: none': { given: { monCount: 1, quorum: quorum(1) } },
  'two mons: none': { given: { monCount: 2, quorum: quorum(2) } },
  'three mons in quorum: one may go': { given: { monCount: 3, quorum: quorum(3) }, desired: [mon(1)] },
  'three mons, one out of quorum: none may go': { given: { monCount: 3, quorum: quorum(3, 2) }, desired: [mon(0)] },
  'five mons in quorum: two may go': { given: { monCount: 5, quorum: quorum(5) }, desired: [mon(2)] },
  'five mons, one out: one may go': { given: { monCount: 5, quorum: quorum(5, 4) }, desired: [mon(1)] },
  'five mons, two out: none may go': { given: { monCount: 5, quorum: quorum(5, 3) }, desired: [mon(0)] },
  'five mons, three out: none may go, and less than none is none': {
    given: { monCount: 5, quorum: quorum(5, 2) },
    desired: [mon(0)],
  },
  'the quorum is not known: no mon may go': { given: { monCount: 3, quorum: unknown('no answer') }, desired: [mon(0)] },
  'the quorum is not known for a moment: the mon budget stays as it is': {
    given: { monCount: 3, quorum: unknown('no answer'), isSilenceBrief: true, existing: [mon(1)] },
    desired: [mon(1)],
  },
  'mons go from three to one: the budget goes': {
    given: { monCount: 1, existing: [mon(1)] },
    remove: ['rook-ceph-mon-pdb'],
  },
  'two managers: one may go': { given: { mgrCount: 2 }, desired: [mgr] },
  'one manager, with an old budget: it goes': {
    given: { mgrCount: 1, existing: [mgr] },
    remove: ['rook-ceph-mgr-pdb'],
  },
  'not managed any more: all that is ours goes': {
    given: {
      cluster: { namespace: 'rook-ceph', mode: 'observe' },
      monCount: 3,
      quorum: quorum(3),
      ...store(2),
      existing: [mon(1), rgw(1)],
    },
    remove: ['rook-ceph-mon-pdb', 'rook-ceph-rgw-shop'],
  },
  'not managed any more, and the budgets are such as Rook made: mons, mgrs and gateways stay protected': {
    given: {
      cluster: { namespace: 'rook-ceph', mode: 'observe' },
      monCount: 3,
      quorum: quorum(3),
      ...store(2),
      existing: [mon(1), mgr, rgw(1)].map(byRook),
    },
  },
  'beside Rook: nothing is wanted, and what carries no mark of ours is left alone': {
    given: { cluster: besideRook('observe', true), monCount: 3, ...store(1), existing: [rgw(1), mgr].map(byRook) },
  },
  'Rook takes them back: what it makes too stays for it without our mark, so no daemon is without a budget': {
    given: { cluster: besideRook('observe', true), monCount: 3, quorum: quorum(3), existing: [heldMon, mgr, rgw(1)] },
    release: [mgr, mon(1), rgw(1)].map(byRook),
  },
  'Rook takes them back while the quorum is not known: as many mons may go as before': {
    given: { cluster: besideRook('observe', true), quorum: unknown('no answer'), existing: [heldMon] },
    release: [byRook(mon(0))],
  },
  'Rook takes them back: budgets of kinds that it has none for are removed': {
    given: { cluster: besideRook('observe', true), existing: [nfsBudget] },
    remove: ['rook-ceph-nfs-files'],
  },
  'nobody takes them, beside Rook: all of ours go but that of the mgrs, which Rook makes whatever its settings say': {
    given: { cluster: besideRook('observe', false), monCount: 3, quorum: quorum(3), existing: [mon(1), mgr, rgw(1)] },
    release: [byRook(mgr)],
    remove: ['rook-ceph-mon-pdb', 'rook-ceph-rgw-shop'],
  },
  "managed beside Rook: the budget of the mgrs is Rook's, or two writers would undo each other for ever": {
    given: {
      cluster: besideRook('manage', false),
      monCount: 3,
      mgrCount: 2,
      quorum: quorum(3),
      existing: [mon(1), byRook(mgr)],
    },
    desired: [mon(1)],
  },
  'managed beside Rook, one mgr: the budget that Rook has left is not deleted': {
    given: { cluster: besideRook('manage', false), mgrCount: 1, existing: [byRook(mgr)] },
  },
  'managed beside Rook, and an earlier version had taken the budget of the mgrs: it is released to Rook': {
    given: { cluster: besideRook('manage', false), mgrCount: 2, existing: [closedMgr] },
    release: [byRook(mgr)],
  },
  'handed over while Rook still manages them: nothing is written, released or removed': {
    given: { cluster: besideRook('contested', true), monCount: 3, quorum: quorum(3), existing: [heldMon, mgr, rgw(1)] },
  },
  "an administrator's own budget under our name stays": {
    given: {
      ...store(2),
      existing: [old('rook-ceph-rgw-shop', { maxUnavailable: 0 }), old('web', { maxUnavailable: 1 })],
    },
    problems: 1,
  },
}

describe('budgets of daemons that are all alike', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, desired = [], release = [], remove = [], problems = 0 }) => {
    const decision = decideStaticBudgets({ ...bare, ...given })
    expect({ desired: decision.desired, remove: decision.remove }).toEqual({ desired, remove })
    expect(decision.release).toEqual(release)
    expect(decision.problems).toHaveLength(problems)
  })

  it('of 1, 3, 5 and 7 mons in quorum 1, 1, 2 and 2 may go', () => {
    expect([1, 3, 5, 7].map((mons) => removableMons({ mons, inQuorum: mons }))).toEqual([1, 1, 2, 2])
  })
})
