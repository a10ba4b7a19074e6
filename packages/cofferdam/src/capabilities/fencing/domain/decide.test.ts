import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { createFencingJudge } from './decide.ts'
import { marks } from './marks.ts'
import { type FencingObjects, parseFencing } from './parse-fencing.ts'
import type { CephEvidence, FencedCluster } from './snapshot.ts'
import {
  applyDecision as applyOnce,
  decide,
  exampleCluster,
  exampleMachine,
  exampleNode,
  isSettled,
  minute,
  settled,
  smallFencing,
  startMs,
} from './testing/small-fencing.ts'

const key = 'fencegroup.rook.io/ceph'
const three = ['a', 'b', 'c']

function withCluster(more: Partial<FencedCluster>, objects = smallFencing()): FencingObjects {
  return { ...objects, clusters: [{ ...exampleCluster(three), ...more }] }
}

function evidence(more: Partial<CephEvidence>): FencedCluster['evidence'] {
  return known({ polledAtMs: startMs, isClean: known(true), upOsds: new Set([0, 1, 2]), ...more })
}

function labelled(objects: FencingObjects): string[] {
  const machines = [...(objects.openshiftMachines ?? []), ...(objects.clusterApiMachines ?? [])]
  return machines.flatMap(({ metadata }) =>
    Object.keys(metadata.labels ?? {})
      .sort()
      .map((label) => `${metadata.name} ${label}`),
  )
}

function answer(objects: FencingObjects, at = 0) {
  const { budget, reason } = decide(objects).clusters[at] ?? {}
  return { maxUnavailable: budget?.maxUnavailable, reason }
}

/** All OSDs of a node, as Kubernetes and Ceph have them. */
function osdsOf(node: string, { isReady, isUp }: { isReady: boolean; isUp: boolean }): Partial<FencedCluster> {
  const cluster = exampleCluster(three)
  const isThere = three.map((each) => each === node)
  return {
    osds: cluster.osds.map((osd, at) => (isThere[at] ? { ...osd, isReady } : osd)),
    evidence: evidence({ upOsds: new Set([0, 1, 2].filter((id) => isUp || !isThere[id])), isClean: known(isUp) }),
  }
}

it('a node whose last OSD was purged is no longer spoken of: its machine would be held for storage that it has not', () => {
  const judge = createFencingJudge()
  const calm = settled(smallFencing())
  const named = (objects: FencingObjects) => judge.decide(parseFencing(objects)).nodes.map(({ node }) => node)
  const [a, b] = exampleCluster(three).osds
  expect(named(calm)).toEqual(three)
  expect(named(withCluster({ osds: [a, b] as FencedCluster['osds'] }, calm))).toEqual(['a', 'b'])
})

describe('the allowance of a cluster', () => {
  const calm = settled(smallFencing())
  const cases: Record<string, [FencingObjects, { maxUnavailable: number | undefined; reason: string }]> = {
    'is one when Ceph, asked just now, has everything clean': [calm, { maxUnavailable: 1, reason: 'FenceAllowed' }],
    'is none as long as a machine with OSDs lacks its label, because the budget would not count it': [
      smallFencing(),
      { maxUnavailable: 0, reason: 'FenceLabelsPending' },
    ],
    'is none when Ceph does not answer': [
      withCluster({ evidence: unknown('no answer') }, calm),
      { maxUnavailable: 0, reason: 'FenceUnknown' },
    ],
    'is none when the last look is older than a minute': [
      { ...calm, nowMs: startMs + minute + 1 },
      { maxUnavailable: 0, reason: 'FenceUnknown' },
    ],
    'is still one when the look is a minute old to the millisecond': [
      { ...calm, nowMs: startMs + minute },
      { maxUnavailable: 1, reason: 'FenceAllowed' },
    ],
    'is none when the look comes from the future, because a clock was turned back': [
      { ...calm, nowMs: startMs - minute - 1 },
      { maxUnavailable: 0, reason: 'FenceUnknown' },
    ],
    'is none when Ceph answers but does not know whether all is clean': [
      withCluster({ evidence: evidence({ isClean: unknown('reports are old') }) }, calm),
      { maxUnavailable: 0, reason: 'FenceUnknown' },
    ],
    'is none while data is not clean': [
      withCluster({ evidence: evidence({ isClean: known(false) }) }, calm),
      { maxUnavailable: 0, reason: 'FenceWaitsForData' },
    ],
    'is none as soon as an OSD was evicted, though Ceph was clean when polled and nobody holds the storage: seeds 1433 and 1680 fenced a machine beside it':
      [
        withCluster({ osds: exampleCluster(three).osds.map((osd) => ({ ...osd, isLeaving: osd.id === 2 })) }, calm),
        { maxUnavailable: 0, reason: 'FenceUnknown' },
      ],
    'is one for the machine of a silent node whose pods are being deleted: its OSDs are up and all data is clean': [
      withCluster(
        { osds: exampleCluster(three).osds.map((osd) => ({ ...osd, isReady: osd.id !== 0, isLeaving: osd.id === 0 })) },
        { ...calm, nodes: [exampleNode('a', { sickSinceMs: startMs }), exampleNode('b'), exampleNode('c')] },
      ),
      { maxUnavailable: 1, reason: 'FenceAllowed' },
    ],
    'is none while a drain holds the storage': [
      withCluster({ heldBy: known([{ holder: 'drain of c', requestId: 'r', scope: '' }]) }, calm),
      { maxUnavailable: 0, reason: 'StorageKeyHeld' },
    ],
    'is none while the ledger cannot be read': [
      withCluster({ heldBy: unknown('no connection') }, calm),
      { maxUnavailable: 0, reason: 'LedgerUnknown' },
    ],
    'is none while somebody holds one failure domain and a machine of another is sick': [
      withCluster(
        { heldBy: known([{ holder: 'drain of c', requestId: 'r', scope: 'c' }]) },
        { ...calm, nodes: [exampleNode('a', { sickSinceMs: startMs }), exampleNode('b'), exampleNode('c')] },
      ),
      { maxUnavailable: 0, reason: 'StorageKeyHeld' },
    ],
    'is one when whoever holds the storage holds just the failure domain of the sick machine': [
      withCluster(
        { heldBy: known([{ holder: 'drain of a', requestId: 'r', scope: 'a' }]) },
        { ...calm, nodes: [exampleNode('a', { sickSinceMs: startMs }), exampleNode('b'), exampleNode('c')] },
      ),
      { maxUnavailable: 1, reason: 'FenceAllowed' },
    ],
    'is none while what was written about fences cannot be read': [
      { ...calm, budgets: calm.budgets.map((one) => annotated(one, marks.fences, '{')) },
      { maxUnavailable: 0, reason: 'FenceUnknown' },
    ],
    'is no question for a cluster that does not want budgets': [
      withCluster({ settings: { ...exampleCluster(three).settings, isManaged: false } }, calm),
      { maxUnavailable: undefined, reason: 'HandedBack' },
    ],
    'is decided for nodes alone where medik8s fences them without Machines: nobody would keep it from the second otherwise':
      [smallFencing({ openshiftMachines: undefined }), { maxUnavailable: 1, reason: 'FenceAllowed' }],
    'is no question where the API server knows neither Machines nor NodeHealthChecks': [
      smallFencing({ openshiftMachines: undefined, nodeHealthChecks: undefined }),
      { maxUnavailable: undefined, reason: 'MachinesAbsent' },
    ],
    'stays while the cluster is being deleted, because its data is still there': [
      withCluster({ isBeingDeleted: true }, calm),
      { maxUnavailable: 1, reason: 'FenceAllowed' },
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, expected]) => {
    expect(answer(objects)).toEqual(expected)
  })

  it('says of an external cluster that its OSDs are not here', () => {
    const { settings } = exampleCluster([])
    const objects = withCluster({ settings: { ...settings, isManaged: false, isExternal: true } })
    expect(decide(objects).clusters[0]?.explanation).toBe('The cluster is external: its OSDs run on no machine here.')
  })

  it('is never opened under a name that another cluster has, where drains look for it', () => {
    const clusters = [
      exampleCluster(three, { namespace: 'c', name: 'a-b' }),
      exampleCluster([], { namespace: 'b-c', name: 'a' }),
    ]
    const objects = settled(smallFencing({ clusters }))
    expect(decide(objects).clusters.map(({ budget }) => [budget?.name, budget?.maxUnavailable])).toEqual([
      ['a-b-c-839c42d9', 0],
      ['a-b-c', 1],
    ])
  })
})

function annotated<T extends { readonly metadata: object }>(object: T, annotation: string, value: string): T {
  const { annotations } = object.metadata as { readonly annotations?: object }
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [annotation]: value } } }
}

describe('the label of a machine', () => {
  const calm = settled(smallFencing())
  const all = three.map((node) => `m-${node} ${key}`)
  const cases: Record<string, [FencingObjects, string[]]> = {
    'is on every machine with an OSD': [smallFencing(), all],
    'stays while an OSD is not ready but up for Ceph': [
      withCluster(osdsOf('a', { isReady: false, isUp: true }), calm),
      all,
    ],
    'stays while an OSD is ready but down for Ceph': [
      withCluster(osdsOf('a', { isReady: true, isUp: false }), calm),
      all,
    ],
    'goes when both say that the OSD is down, so that the dead machine may be fenced': [
      withCluster(osdsOf('a', { isReady: false, isUp: false }), calm),
      all.slice(1),
    ],
    'stays when an OSD is not ready and Ceph is silent': [
      withCluster({ ...osdsOf('a', { isReady: false, isUp: false }), evidence: unknown('no answer') }, calm),
      all,
    ],
    'does not come when an OSD is not ready and Ceph is silent': [
      withCluster({ ...osdsOf('a', { isReady: false, isUp: false }), evidence: unknown('no answer') }),
      all.slice(1),
    ],
    'stays on every machine while the OSDs of the cluster may not be read: else all of them would be let go as empty': [
      withCluster({ osds: [], osdsUnread: 'cannot list resource "deployments"' }, calm),
      all,
    ],
    'goes from no machine while it is not known where an OSD that is up is': [
      withCluster(
        { osds: exampleCluster(three).osds.map((osd) => (osd.id === 0 ? { ...osd, nodeName: unknown('?') } : osd)) },
        calm,
      ),
      all,
    ],
    'goes although nobody knows where an OSD is, when both say that it does not run at all': [
      withCluster(
        {
          osds: exampleCluster(three).osds.map((osd) =>
            osd.id === 0 ? { ...osd, isReady: false, nodeName: unknown('its pod waits for a node') } : osd,
          ),
          evidence: evidence({ upOsds: new Set([1, 2]), isClean: known(false) }),
        },
        calm,
      ),
      all.slice(1),
    ],
    'goes when the OSD moved to another node': [
      withCluster({ osds: exampleCluster(['b', 'b', 'c']).osds }, calm),
      all.slice(1),
    ],
    'stays on a machine that lost its node while a node with OSDs has no machine': [
      {
        ...calm,
        openshiftMachines: (calm.openshiftMachines ?? []).map((machine) =>
          machine.metadata.name === 'm-a' ? { ...machine, status: {} } : machine,
        ),
      },
      all,
    ],
    'never comes on a machine that has no node yet': [
      smallFencing({ openshiftMachines: [exampleMachine('a'), exampleMachine('new', { status: {}, spec: {} })] }),
      [`m-a ${key}`],
    ],
    'comes with those that Rook used to write, when they are asked for': [
      withCluster(
        { settings: { ...exampleCluster([]).settings, writesRookLabels: true } },
        smallFencing({ openshiftMachines: [exampleMachine('a')] }),
      ),
      [`m-a ${key}`, 'm-a fencegroup.rook.io/cluster', 'm-a fencegroup.rook.io/clusterNamespace'],
    ],
    'goes with those that Rook used to write, when they are not asked for any more and are ours': [
      withCluster(
        {},
        settled(
          withCluster(
            { settings: { ...exampleCluster([]).settings, writesRookLabels: true } },
            smallFencing({ openshiftMachines: [exampleMachine('a')] }),
          ),
        ),
      ),
      [`m-a ${key}`],
    ],
    'goes where its cluster is gone': [{ ...calm, clusters: [] }, []],
    'of somebody else stays, also one that looks like ours': [
      smallFencing({
        openshiftMachines: [
          exampleMachine('x', {
            metadata: {
              name: 'm-x',
              labels: { app: 'db', 'fencegroup.rook.io/cluster': 'other' },
              annotations: { [marks.labels]: 'app' },
            },
          }),
        ],
      }),
      ['m-x app', 'm-x fencegroup.rook.io/cluster'],
    ],
    'comes once for each cluster with OSDs on the machine': [
      smallFencing({
        clusters: [exampleCluster(['a']), exampleCluster(['a', 'b'], { name: 'other', namespace: 'n' })],
      }),
      [`m-a ${key}`, 'm-a fencegroup.rook.io/other', 'm-b fencegroup.rook.io/other'],
    ],
    'bears the namespace where two clusters have one name': [
      smallFencing({ clusters: [exampleCluster(['a']), exampleCluster(['b'], { namespace: 'n' })] }),
      ['m-a fencegroup.rook.io/ceph.rook', 'm-b fencegroup.rook.io/ceph.n'],
    ],
    'is put on machines of Cluster API as well': [
      smallFencing({ openshiftMachines: undefined, clusterApiMachines: [exampleMachine('a')] }),
      [`m-a ${key}`],
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, expected]) => {
    expect(labelled(settled(objects))).toEqual(expected)
  })

  it('of a new name is on before the budget selects by it, and the old one goes after that', () => {
    const namesake = exampleCluster(['b'], { namespace: 'n' })
    let now: FencingObjects = { ...calm, clusters: [...calm.clusters, namesake] }
    const told: unknown[] = []
    for (let pass = 0; pass < 4; pass += 1) {
      const decision = decide(now)
      told.push({
        key: decision.clusters[0]?.budget?.labelKey,
        maxUnavailable: decision.clusters[0]?.budget?.maxUnavailable,
        ofMachineA: decision.labels
          .filter(({ machine }) => machine === 'm-a')
          .map(({ add, remove }) => [...Object.keys(add).map((one) => `+${one}`), ...remove.map((one) => `-${one}`)]),
      })
      now = applyOnce(now)
    }
    expect(told).toEqual([
      { key, maxUnavailable: 0, ofMachineA: [['+fencegroup.rook.io/ceph.rook']] },
      { key: `${key}.rook`, maxUnavailable: 1, ofMachineA: [] },
      { key: `${key}.rook`, maxUnavailable: 1, ofMachineA: [[`-${key}`]] },
      { key: `${key}.rook`, maxUnavailable: 1, ofMachineA: [] },
    ])
    expect(isSettled(now)).toBe(true)
  })
})
