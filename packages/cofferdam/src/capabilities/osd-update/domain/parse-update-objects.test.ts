import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { closingOf } from '../../../shared/closed-node.ts'
import { nodesByHostname } from '../../../shared/node-hostnames.ts'
import { known } from '../../../shared/observed.ts'
import { buildOsdDeployment } from './build-osd-deployment.ts'
import { existenceList, type OsdNode, parseUpdateObjects } from './parse-update-objects.ts'
import { withRestart } from './restart-request.ts'
import { markUpdateStarted } from './update-mark.ts'

const image = 'registry.example/ceph/ceph:v19'
const cluster = (spec: CephCluster['spec'] = {}): CephCluster => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { name: 'my-cluster', namespace: 'rook-ceph', uid: 'uid-1' },
  spec: { cephVersion: { image }, ...spec },
})
const ready: NonNullable<Deployment['status']> = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
}

function deployment(id: number, given: { status?: Deployment['status']; metadata?: object } = {}): Deployment {
  const built = buildOsdDeployment(cluster(), { id, node: `node-${id}`, location: { host: `node-${id}` } })
  return { ...built, metadata: { ...built.metadata, generation: 1, ...given.metadata }, status: given.status ?? ready }
}

function pod(id: number, metadata: object = {}, isReady = true): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `osd-${id}`, namespace: 'rook-ceph', labels: { 'ceph-osd-id': String(id) }, ...metadata },
    spec: { containers: [] },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }
}

const osdNode = (given: Partial<OsdNode> & { readonly hostname: string }): OsdNode => ({
  name: given.hostname,
  deviceClass: undefined,
  closing: undefined,
  ...given,
})
const emptied = closingOf({ spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] } })
const cordoned: OsdNode['closing'] = { isCordoned: true, taint: undefined, unreadable: undefined }
const node = (given: Parameters<typeof osdNode>[0]) => known(osdNode(given))

function parse(deployments: readonly Deployment[], given: Partial<Parameters<typeof parseUpdateObjects>[0]> = {}) {
  return parseUpdateObjects({ deployments, pods: [], cluster: cluster(), ...given })
}

const plain = (id: number) => ({
  id,
  deployment: `rook-ceph-osd-${id}`,
  needsUpdate: false,
  isPodReady: true,
  hasStalled: false,
})

describe('the OSDs of a cluster as their Deployments have them', () => {
  it('are none where there are none (55)', () => {
    expect(parse([])).toEqual({ osds: [], problems: [], isUpgrade: false })
  })

  it('come in the order of their ids, without what belongs to others (55)', () => {
    const foreign = deployment(7, { metadata: { namespace: 'other' } })
    const mon = deployment(8, { metadata: { labels: { app: 'rook-ceph-mon' } } })
    expect(parse([deployment(4), foreign, deployment(0), mon])).toEqual({
      osds: [plain(0), plain(4)],
      problems: [],
      isUpgrade: false,
    })
  })

  it('leave out one that does not say which it is, tell of it, and keep the others (55)', () => {
    const nameless = deployment(1, { metadata: { name: 'stray', labels: { app: 'rook-ceph-osd' } } })
    const worded = deployment(2, { metadata: { labels: { app: 'rook-ceph-osd', 'ceph-osd-id': 'two' } } })
    expect(parse([nameless, worded, deployment(3)])).toEqual({
      osds: [plain(3)],
      problems: [
        { object: 'deployment/stray', problem: 'has no label ceph-osd-id' },
        { object: 'deployment/rook-ceph-osd-2', problem: 'its label ceph-osd-id "two" is no OSD' },
      ],
      isUpgrade: false,
    })
  })

  it('are left alone on a cordoned node: there they could not start again, and who waits for them would keep the drain from its end', () => {
    const nodeOf = (hostname: string) => node({ hostname, closing: hostname === 'node-9' ? undefined : cordoned })
    const tolerating = (one: Deployment, key: string): Deployment => {
      const spec = { ...one.spec.template.spec, tolerations: [{ key, operator: 'Exists' as const }] }
      return { ...one, spec: { ...one.spec, template: { ...one.spec.template, spec } } }
    }
    const gone = deployment(3, { status: { ...ready, readyReplicas: 0 } })
    const { osds } = parse(
      [
        deployment(0),
        tolerating(deployment(1), 'node.kubernetes.io/unschedulable'),
        tolerating(deployment(2), 'other'),
        gone,
        deployment(9),
      ],
      { nodeOf },
    )
    expect(osds.filter(({ isNodeCordoned }) => isNodeCordoned).map(({ id }) => id)).toEqual([0, 2, 3])
    expect(osds.map(({ id, leftAlone }) => [id, leftAlone])).toEqual([
      [0, 'its node node-0 is cordoned, so it could not start again: it is updated when the node is open'],
      [1, undefined],
      [2, 'its node node-2 is cordoned, so it could not start again: it is updated when the node is open'],
      [3, 'its node node-3 is cordoned, so it could not start again: it is updated when the node is open'],
      [9, undefined],
    ])
  })

  const named = (hostname: string, given: Partial<OsdNode> = {}) =>
    osdNode({ hostname, name: `${hostname}.example.com`, ...given })
  const places: Record<string, { nodes: readonly OsdNode[]; storage?: object; leftAlone: string | undefined }> = {
    'on a cordoned node whose name is not its hostname: restarted it would stay down, and freeze the update': {
      nodes: [named('node-0', { closing: cordoned })],
      leftAlone:
        'its node node-0.example.com is cordoned, so it could not start again: it is updated when the node is open',
    },
    'on a node that Karpenter empties without a cordon: restarted it would stay down, and freeze the update': {
      nodes: [named('node-0', { closing: emptied })],
      leftAlone:
        'its node node-0.example.com is closed by taint karpenter.sh/disrupted (Karpenter), so it could not start again: it is updated when the node is open',
    },
    'not on a schedulable node beside a cordoned one that is called as its hostname is': {
      nodes: [named('node-0'), osdNode({ hostname: 'other', name: 'node-0', closing: cordoned })],
      leftAlone: undefined,
    },
    'when two nodes have its hostname: it may be started on the one without its disk': {
      nodes: [named('node-0'), osdNode({ hostname: 'node-0' })],
      leftAlone:
        'its node is not known: nodes node-0 and node-0.example.com have the same label kubernetes.io/hostname=node-0',
    },
    'when no node has its hostname: there is no place where it could start again': {
      nodes: [named('node-7')],
      leftAlone: 'its node is not known: no node has the label kubernetes.io/hostname=node-0',
    },
    'not when the storage spec has the name of its node instead of the hostname, as Rook allows': {
      nodes: [named('node-0')],
      storage: { nodes: [{ name: 'node-0.example.com' }] },
      leftAlone: undefined,
    },
  }
  for (const [name, { nodes, storage, leftAlone }] of Object.entries(places)) {
    it(`are left alone ${name}`, () => {
      const given = { nodeOf: nodesByHostname(nodes), ...(storage && { cluster: cluster({ storage }) }) }
      expect(parse([deployment(0)], given).osds.map((osd) => osd.leftAlone)).toEqual([leftAlone])
    })
  }

  it('have a problem when their node, by whatever name, is given two classes of disks: which resources they get is not known', () => {
    const storage = { nodes: [{ name: 'node-0.example.com', config: { deviceClass: 'ssd' } }] }
    const nodeOf = nodesByHostname([named('node-0', { deviceClass: 'hdd' })])
    expect(parse([deployment(0)], { nodeOf, cluster: cluster({ storage }) }).osds[0]?.problem).toBe(
      'spec.storage.nodes says device class ssd for its node node-0.example.com, and the label osd.rook.io/device-class of the node says hdd: make them the same',
    )
  })

  it('count once in the existence list, however many Deployments claim to be one (57)', () => {
    const twin = deployment(3, { metadata: { name: 'twin' } })
    const { osds } = parse([deployment(3), twin, deployment(5)])
    expect([existenceList(osds), osds[0]?.problem]).toEqual([
      new Set([3, 5]),
      'both Deployments rook-ceph-osd-3 and twin say that they are this OSD',
    ])
  })

  it('need an update exactly when their Deployment would change, and tell of an upgrade when the image would (59, 60)', () => {
    const changed = cluster({ cephVersion: { image: 'registry.example/ceph/ceph:v20' } })
    const { osds, isUpgrade } = parse([deployment(0), deployment(1), deployment(2)], { cluster: changed })
    expect([osds.map(({ needsUpdate }) => needsUpdate), isUpgrade]).toEqual([[true, true, true], true])
  })

  const alone: Record<string, { deployment: Deployment; cluster?: CephCluster; leftAlone: string | undefined }> = {
    'with the label do-not-reconcile (53)': {
      deployment: deployment(0, {
        metadata: { labels: { ...deployment(0).metadata.labels, 'ceph.rook.io/do-not-reconcile': '' } },
      }),
      leftAlone: 'its Deployment has the label ceph.rook.io/do-not-reconcile',
    },
    'while it is being replaced': {
      deployment: deployment(0, { metadata: { annotations: { 'osd.rook.io/replace-in-progress': 'true' } } }),
      leftAlone: 'it is being replaced',
    },
    'when its node is no longer in the storage spec (52)': {
      deployment: deployment(0),
      cluster: cluster({ storage: { nodes: [{ name: 'node-1' }] } }),
      leftAlone: 'its node node-0 is no longer in spec.storage.nodes',
    },
    'but not when all nodes are in the storage spec': {
      deployment: deployment(0),
      cluster: cluster({ storage: { useAllNodes: true, nodes: [] } }),
      leftAlone: undefined,
    },
  }
  for (const [name, given] of Object.entries(alone)) {
    it(`are left alone ${name}`, () => {
      const { osds } = parse([given.deployment], given.cluster && { cluster: given.cluster })
      expect(osds.map(({ leftAlone }) => leftAlone)).toEqual([given.leftAlone])
    })
  }

  const readiness: Record<string, { status?: Deployment['status']; pods?: Pod[]; isPodReady: boolean }> = {
    'ready by its counts': { isPodReady: true },
    'not ready while the counts are of a template before': {
      status: { ...ready, observedGeneration: 0 },
      isPodReady: false,
    },
    'not ready while an old pod is still there': { status: { ...ready, replicas: 2 }, isPodReady: false },
    'not ready without a ready pod': { status: { ...ready, readyReplicas: 0 }, isPodReady: false },
    'not ready when the only pod at hand is going': {
      pods: [pod(0, { deletionTimestamp: '2026-11-15T08:00:00Z' })],
      isPodReady: false,
    },
    'not ready when its pod says so before its Deployment does': { pods: [pod(0, {}, false)], isPodReady: false },
  }
  for (const [name, { status, pods = [], isPodReady }] of Object.entries(readiness)) {
    it(`have one that is ${name}`, () => {
      expect(parse([deployment(0, { status })], { pods }).osds.map((osd) => osd.isPodReady)).toEqual([isPodReady])
    })
  }

  it('have stalled when the Deployment has given up, but not by what it said of an older template (62)', () => {
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] as const
    const stalled = deployment(0, { status: { observedGeneration: 1, conditions } })
    const old = deployment(1, { status: { observedGeneration: 0, conditions } })
    expect(parse([stalled, old]).osds.map(({ hasStalled }) => hasStalled)).toEqual([true, false])
  })

  it('say themselves when their update began; a mark that is no time makes one a problem of its own', () => {
    const marked = markUpdateStarted(deployment(0), 5_000)
    const scribbled = deployment(1, { metadata: { annotations: { 'cofferdam.io/update-started': 'yesterday' } } })
    expect(parse([marked, scribbled]).osds.map(({ startedMs, problem }) => [startedMs, problem])).toEqual([
      [5_000, undefined],
      [undefined, 'its annotation cofferdam.io/update-started "yesterday" is no time'],
    ])
  })

  it('have not moved when they were started and their pod is older: the Deployment was put back before it was replaced', () => {
    const begun = Date.parse('2026-11-15T09:00:00.500Z')
    const made = ['2026-11-15T08:00:00Z', '2026-11-15T09:00:00Z']
    const pods = made.map((creationTimestamp, id) => pod(id, { creationTimestamp }))
    const marked = [0, 1].map((id) => markUpdateStarted(deployment(id), begun))
    const seen = (given: Parameters<typeof parse>[1]) => parse(marked, given).osds.map(({ isUnmoved }) => isUnmoved)
    expect([seen({ pods }), seen({ pods: [] })]).toEqual([
      [true, undefined],
      [undefined, undefined],
    ])
  })

  it('beside Rook need nothing but the restart that was asked for, if their pod is older than that', () => {
    const pods = [
      pod(0, { creationTimestamp: '2026-11-15T08:00:00Z' }),
      pod(1, { creationTimestamp: '2026-11-15T10:00:00Z' }),
    ]
    const changed = cluster({ cephVersion: { image: 'registry.example/ceph/ceph:v20' } })
    const asked = (restartAskedMs: number | undefined) =>
      parse([deployment(0), deployment(1)], { pods, cluster: changed, isBesideRook: true, restartAskedMs }).osds.map(
        ({ needsUpdate }) => needsUpdate,
      )
    expect([asked(undefined), asked(Date.parse('2026-11-15T09:00:00Z'))]).toEqual([
      [false, false],
      [true, false],
    ])
  })
})

describe('what is not what it should be', () => {
  const osdsOf = (given: Partial<Parameters<typeof parseUpdateObjects>[0]>) =>
    parseUpdateObjects({ deployments: [deployment(0)], pods: [], cluster: cluster(), ...given })

  it('a pod of another cluster says nothing of an OSD with the same id', () => {
    const pods = [pod(0, { namespace: 'other' }, false), pod(0, { labels: {} }, false)]
    expect(osdsOf({ pods }).osds[0]?.isPodReady).toBe(true)
  })

  it('a Deployment without a container of the OSD is a problem, and nothing is written over it', () => {
    const built = deployment(0)
    const { template } = built.spec
    const spec = { ...built.spec, template: { ...template, spec: { ...template.spec, containers: [] } } }
    expect(osdsOf({ deployments: [{ ...built, spec }] }).osds[0]).toMatchObject({
      needsUpdate: false,
      problem: 'its Deployment has no container named osd with an image',
    })
  })

  it('a CephCluster that names no image asks for no upgrade', () => {
    expect(osdsOf({ cluster: { ...cluster(), spec: {} } }).isUpgrade).toBe(false)
  })

  it('an OSD that may run anywhere is left to no node: a cordon of one does not hold it back', () => {
    const built = buildOsdDeployment(cluster(), { id: 0, node: undefined, pvc: 'set1-data-0', location: {} })
    const nodeOf = nodesByHostname([osdNode({ hostname: 'node-0', closing: cordoned })])
    expect(osdsOf({ deployments: [{ ...built, status: ready }], nodeOf }).osds[0]?.leftAlone).toBeUndefined()
  })

  it('a restart that its template carries already is not asked for again while its old pod ends', () => {
    const askedMs = Date.parse('2026-11-15T09:00:00Z')
    const old = pod(0, { creationTimestamp: '2026-11-15T08:00:00Z' })
    const needs = (one: Deployment, restartAskedMs?: number) =>
      osdsOf({ deployments: [one], pods: [old], restartAskedMs }).osds[0]?.needsUpdate
    expect([
      needs(deployment(0)),
      needs(deployment(0), askedMs),
      needs(withRestart(deployment(0), askedMs), askedMs),
    ]).toEqual([false, true, false])
  })

  it.each([
    ['that tolerates all taints starts again on a cordoned node', { operator: 'Exists' as const }, undefined],
    [
      'that tolerates them only for eviction does not',
      { operator: 'Exists' as const, effect: 'NoExecute' as const },
      true,
    ],
    ['that tolerates another one does not', { key: 'gpu', operator: 'Exists' as const }, true],
  ])('an OSD %s', (_, toleration, isNodeCordoned) => {
    const built = deployment(0)
    const { template } = built.spec
    const spec = { ...built.spec, template: { ...template, spec: { ...template.spec, tolerations: [toleration] } } }
    const nodeOf = nodesByHostname([osdNode({ hostname: 'node-0', closing: cordoned })])
    expect(osdsOf({ deployments: [{ ...built, spec }], nodeOf }).osds[0]?.isNodeCordoned).toBe(isNodeCordoned)
  })
})
