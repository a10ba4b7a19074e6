import type { ConfigMap, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { trustsAlone } from '../../../shared/ceph-trust/named-clusters.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { withoutMark } from './budget-mark.ts'
import { type CephHandOverSnapshot, planCephHandOver } from './hand-over.ts'
import { buildOsdBudget } from './osd-budgets.ts'
import { judgeProtection } from './protection.ts'

const id = { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'u' }
const ours = buildOsdBudget(id, {
  name: 'rook-ceph-osd',
  maxUnavailable: 1,
  selector: { covers: 'all', exceptOsds: [] },
})
const rooks = withoutMark(ours)
const osd = (number: number, zone = 'x'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `rook-ceph-osd-${number}`,
    labels: {
      app: 'rook-ceph-osd',
      osd: String(number),
      'ceph-osd-id': String(number),
      'topology-location-zone': zone,
    },
  },
  spec: { containers: [] },
  status: { phase: 'Running' },
})
const map = (annotations: Record<string, string>, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', annotations },
  data,
})
const cluster = (managePodBudgets: boolean, annotations: Record<string, string> = {}) => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { ...id, annotations },
  spec: { disruptionManagement: { managePodBudgets } },
  status: { ceph: { health: 'HEALTH_OK' } },
})
const observing = map({ 'cofferdam.io/reason': 'ManagedElsewhere', 'cofferdam.io/budgets': 'observe' })
const managing = map({ 'cofferdam.io/reason': 'AnyOsdMayGo', 'cofferdam.io/budgets': 'manage' })

const ready: CephHandOverSnapshot = {
  direction: 'adopt',
  cluster: cluster(true),
  trust: { ...trustsAlone([id]), own: [] },
  isOperatorRunning: true,
  rookRuns: true,
  stateMap: undefined,
  observed: observing,
  budgets: [rooks],
  osdPods: [osd(0), osd(1)],
  versions: { rook: ['v1.18.8'], ceph: ['19.2.3-0'] },
  missingRights: known([]),
  pacedOsds: [],
  wants: { isWithoutSuccessor: false, isForced: false },
}
const adopted: CephHandOverSnapshot = {
  ...ready,
  cluster: cluster(false, { 'cofferdam.io/budgets': 'manage' }),
  stateMap: managing,
  observed: undefined,
  budgets: [ours],
}
const releasing: CephHandOverSnapshot = { ...adopted, direction: 'release' }

interface Row {
  readonly given: CephHandOverSnapshot
  readonly blocked?: readonly string[]
  readonly warned?: readonly string[]
  readonly changes?: readonly string[]
  readonly pending?: readonly RegExp[]
}

const toManage = ['spec.disruptionManagement.managePodBudgets: false', 'annotation cofferdam.io/budgets: manage']
const toObserve = ['spec.disruptionManagement.managePodBudgets: true', 'annotation cofferdam.io/budgets: observe']
const notTaken = [/has not recorded that it manages/, /rook-ceph-osd is not taken over/]

const rows: Record<string, Row> = {
  'all is well: one patch switches both sides': { given: ready, changes: toManage, pending: notTaken },
  'the pace of updates is handed over with it': {
    given: { ...ready, wants: { ...ready.wants, updates: 'pace' } },
    changes: [...toManage, 'annotation cofferdam.io/updates: pace'],
    pending: notTaken,
  },
  'the former annotation goes, so that one word counts': {
    given: { ...ready, cluster: cluster(false, { 'cofferdam.io/manage': 'true' }) },
    changes: ['annotation cofferdam.io/budgets: manage', 'annotation cofferdam.io/manage removed'],
    pending: notTaken,
  },
  'interrupted after the patch: it waits, and patches nothing again': {
    given: { ...ready, cluster: cluster(false, { 'cofferdam.io/budgets': 'manage' }) },
    pending: notTaken,
  },
  'done: nothing is missing': { given: adopted },
  'an OSD without a budget: it is not done': {
    given: { ...adopted, budgets: [] },
    pending: [/osd.0 has no budget/, /osd.1 has no budget/],
  },
  'OSDs of the failure domain that is open for a drain need none': {
    given: {
      ...adopted,
      budgets: [],
      stateMap: map(managing.metadata.annotations ?? {}, { 'draining-failure-domain': 'x' }),
    },
    warned: ['drains'],
  },
  'a cluster that is not named cannot be adopted: the operator would not read it': {
    given: { ...ready, trust: { ...trustsAlone([]), own: [] } },
    blocked: ['cluster'],
    changes: toManage,
    pending: notTaken,
  },
  'no operator: Rook would be switched off, and the budgets would stand still': {
    given: { ...ready, isOperatorRunning: false, observed: undefined },
    blocked: ['operator', 'record'],
    changes: toManage,
    pending: notTaken,
  },
  'Ceph does not answer the operator: it would block every OSD': {
    given: {
      ...ready,
      observed: map({ ...observing.metadata.annotations, 'cofferdam.io/ceph-silent-since': '2026-01-01T00:00:00Z' }),
    },
    blocked: ['ceph'],
    changes: toManage,
    pending: notTaken,
  },
  'the operator lacks a right: Rook would be switched off, and nothing would follow drains': {
    given: { ...ready, missingRights: known(['update poddisruptionbudgets.policy']) },
    blocked: ['rights'],
    changes: toManage,
    pending: notTaken,
  },
  'whether it has its rights may not be asked: it is said, and not taken for a no': {
    given: { ...ready, missingRights: unknown('forbidden') },
    warned: ['rights'],
    changes: toManage,
    pending: notTaken,
  },
  'a Rook that was never read may keep budgets in another way: it is said': {
    given: { ...ready, versions: { rook: ['v1.7.2'], ceph: ['16.2.15-0'] } },
    warned: ['versions'],
    changes: toManage,
    pending: notTaken,
  },
  'no word on which Rook it is: it is said': {
    given: { ...ready, versions: { rook: [], ceph: [] } },
    warned: ['versions'],
    changes: toManage,
    pending: notTaken,
  },
  'data is not clean: it is said, with what Ceph complains about': {
    given: {
      ...ready,
      cluster: {
        ...cluster(true),
        status: { ceph: { health: 'HEALTH_WARN', details: { PG_DEGRADED: { severity: 'HEALTH_WARN', message: '' } } } },
      },
    },
    warned: ['data'],
    changes: toManage,
    pending: notTaken,
  },
  'an update is under way: it is said, and goes on': {
    given: { ...ready, versions: { rook: ['v1.18.8'], ceph: ['19.2.3-0', '19.2.4-0'] } },
    warned: ['versions'],
    changes: toManage,
    pending: notTaken,
  },
  'Rook does not run: it is said, and budgets are adopted all the same': {
    given: { ...ready, rookRuns: false },
    warned: ['rook'],
    changes: toManage,
    pending: notTaken,
  },
  'released: one patch switches both sides': {
    given: releasing,
    changes: toObserve,
    pending: [/only observes/, /rook-ceph-osd is still Cofferdam's/, /still has Cofferdam's keys/],
  },
  'released while no Rook runs: OSDs would be without protection for good': {
    given: { ...releasing, rookRuns: false },
    blocked: ['rook'],
    changes: toObserve,
    pending: [/only observes/, /still Cofferdam's/, /still has/],
  },
  'released to no operator, on request': {
    given: { ...releasing, rookRuns: false, wants: { isWithoutSuccessor: true, isForced: false } },
    warned: ['rook'],
    changes: ['annotation cofferdam.io/budgets: observe'],
    pending: [/only observes/, /still Cofferdam's/, /still has/],
  },
  'released: the pace of updates ends with it, or Rook would be held for ever': {
    given: {
      ...ready,
      direction: 'release',
      cluster: cluster(true, { 'cofferdam.io/budgets': 'observe', 'cofferdam.io/updates': 'pace' }),
    },
    changes: ['annotation cofferdam.io/updates removed'],
  },
  'released while a label of the pace is left: Rook would never update that OSD again': {
    given: {
      ...ready,
      direction: 'release',
      cluster: cluster(true, { 'cofferdam.io/budgets': 'observe' }),
      pacedOsds: ['rook-ceph-osd-3'],
    },
    pending: [/rook-ceph-osd-3 still has the label of the pace/],
  },
  'released, and all is done: nothing is missing': {
    given: { ...ready, direction: 'release', cluster: cluster(true, { 'cofferdam.io/budgets': 'observe' }) },
  },
}

describe('a hand-over of budgets', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, blocked = [], warned = [], changes = [], pending = [] }) => {
    const plan = planCephHandOver(given)
    const inState = (state: string) => plan.checks.filter((check) => check.state === state).map(({ what }) => what)
    expect([inState('blocked'), inState('warning')]).toEqual([blocked, warned])
    expect(plan.changes).toEqual(changes)
    expect(plan.patch === undefined).toBe(changes.length === 0)
    expect(plan.pending).toHaveLength(pending.length)
    pending.forEach((pattern, at) => {
      expect(plan.pending[at]).toMatch(pattern)
    })
  })
})

describe('a moment without protection', () => {
  const before = new Set(['osd.0', 'osd.1'])
  it('is one in which an OSD that had a budget has none', () => {
    const now = { osdPods: [osd(0), osd(1), osd(2)], budgets: [], openDomains: [] }
    expect(judgeProtection(before, now)).toMatchObject({
      lost: ['osd.0', 'osd.1'],
      uncovered: ['osd.0', 'osd.1', 'osd.2'],
    })
  })

  it('is none where the OSD is about to go, or its failure domain is open', () => {
    const gone = { ...osd(0), status: { phase: 'Pending' as const } }
    const now = { osdPods: [gone, osd(1, 'y')], budgets: [], openDomains: ['y'] }
    expect(judgeProtection(before, now).lost).toEqual([])
  })
})

it('a budget that goes to Rook keeps the labels of others: whoever selects by them would lose it', () => {
  const labels = { ...ours.metadata.labels, team: 'storage' }
  expect(withoutMark({ ...ours, metadata: { ...ours.metadata, labels } }).metadata.labels).toEqual({ team: 'storage' })
})

it('a pod without the number of its OSD is named as a pod, and by the older label where that is all it has', () => {
  const bare = (labels?: Record<string, string>): Pod => ({
    ...osd(0),
    metadata: { name: 'rook-ceph-osd-x', ...(labels && { labels }) },
  })
  const pods = [bare({ app: 'rook-ceph-osd', osd: '7' }), bare({ app: 'rook-ceph-osd' })]
  const { problems } = { problems: planCephHandOver({ ...adopted, budgets: [], osdPods: pods }).pending }
  expect(problems.filter((each) => each.includes('no budget')).map((each) => each.split(' ')[0])).toEqual([
    'osd.7',
    'pod/rook-ceph-osd-x',
  ])
})

describe('what is checked before anything is handed over', () => {
  const check = (given: Partial<CephHandOverSnapshot>, name: string) =>
    planCephHandOver({ ...ready, ...given }).checks.find(({ what }) => what === name)
  const rows: Record<string, [Partial<CephHandOverSnapshot>, string, object]> = {
    'an operator that published nothing may not know the cluster: its budgets would be nobody’s': [
      { trust: undefined },
      'cluster',
      { says: 'the operator has published no settings' },
    ],
    'a record without its mode says so': [
      { observed: map({ 'cofferdam.io/reason': 'ManagedElsewhere' }) },
      'record',
      { says: 'ManagedElsewhere, budgets: not said' },
    ],
    'a Ceph that is silent blocks no one who goes on with --force': [
      {
        observed: map({ 'cofferdam.io/reason': 'CephSilent', 'cofferdam.io/ceph-silent-since': 'noon' }),
        wants: { ...ready.wants, isForced: true },
      },
      'ceph',
      { says: 'Ceph does not answer the operator since noon' },
    ],
    'a cluster that Rook has not written a health of is a warning': [
      { cluster: { ...cluster(true), status: undefined } as never },
      'data',
      { says: 'the status of the cluster has no health of Ceph' },
    ],
    'data that is not clean is told without details where Rook has none': [
      { cluster: { ...cluster(true), status: { ceph: { health: 'HEALTH_WARN' } } } },
      'data',
      { says: 'HEALTH_WARN; failure domains whose data is not clean stay held' },
    ],
    'data that is not clean is told with what Ceph complains of, in order': [
      {
        cluster: {
          ...cluster(true),
          status: { ceph: { health: 'HEALTH_WARN', details: { PG_DEGRADED: {}, OSD_DOWN: {} } } },
        } as never,
      },
      'data',
      { says: 'HEALTH_WARN: OSD_DOWN, PG_DEGRADED; failure domains whose data is not clean stay held' },
    ],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [given, name, then]) => {
    expect(check(given, name)).toMatchObject(then)
  })
})

it('a cluster without annotations is switched by its spec alone where nothing else is to be said', () => {
  const { annotations: _, ...metadata } = cluster(true).metadata
  expect(planCephHandOver({ ...ready, cluster: { ...cluster(true), metadata } }).patch).toEqual({
    metadata: { annotations: { 'cofferdam.io/budgets': 'manage' } },
    spec: { disruptionManagement: { managePodBudgets: false } },
  })
  const noted = cluster(true, { 'cofferdam.io/budgets': 'manage' })
  expect(planCephHandOver({ ...ready, cluster: noted }).patch).toEqual({
    spec: { disruptionManagement: { managePodBudgets: false } },
  })
})
