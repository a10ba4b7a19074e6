import type {
  LonghornInstanceManager,
  LonghornNode,
  LonghornReplica,
  LonghornVolume,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornDecision } from '@cofferdam/product/capabilities/longhorn-drain/domain/decision.ts'
import {
  manageAnnotation,
  surplusAnnotation,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { createLonghornJudge } from '@cofferdam/product/capabilities/longhorn-drain/domain/judge.ts'
import {
  createLonghornParser,
  type LonghornObjects,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/parse-longhorn.ts'
import type { LonghornSnapshot } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import { cpuSecondsOf, printRows, type Row } from './report/rows.ts'

const nodeCount = 1_000
const volumeCount = 10_000
const copies = 3
const what = '1,000 nodes, 10,000 volumes, 30,000 replicas'
const longhorn = { apiVersion: 'longhorn.io/v1beta2' }
const since = '2026-01-01T00:00:00Z'

function nodeName(at: number): string {
  return `node-${String(at).padStart(4, '0')}`
}

/** Every tenth node is cordoned, and every fiftieth volume has lost all copies but one. */
function exampleObjects(random: Random): LonghornObjects {
  const names = Array.from({ length: nodeCount }, (_, at) => nodeName(at))
  const volumeNames = Array.from({ length: volumeCount }, (_, at) => `pvc-${at}`)
  const namespace = 'longhorn-system'
  return {
    namespace,
    nowMs: 0,
    settings: [
      setting('node-drain-policy', 'block-for-eviction-if-contains-last-replica', {
        [manageAnnotation]: 'hold',
        [surplusAnnotation]: 'remove',
      }),
    ],
    nodes: names.map(
      (name): LonghornNode => ({
        ...longhorn,
        kind: 'Node',
        metadata: { name, namespace },
        spec: { disks: { d: { evictionRequested: false } } },
        status: { diskStatus: { d: { diskUUID: `disk-${name}` } } },
      }),
    ),
    volumes: volumeNames.map(
      (name): LonghornVolume => ({
        ...longhorn,
        kind: 'Volume',
        metadata: { name, namespace },
        spec: { numberOfReplicas: copies },
        status: { state: 'attached', robustness: 'healthy', actualSize: 1e9 },
      }),
    ),
    replicas: volumeNames.flatMap((volumeName, at) =>
      placement(random).map(
        (place, copy): LonghornReplica => ({
          ...longhorn,
          kind: 'Replica',
          metadata: { name: `${volumeName}-r-${copy}`, namespace },
          spec: {
            volumeName,
            active: true,
            dataDirectoryName: `${volumeName}-${copy}`,
            nodeID: nodeName(place),
            diskID: `disk-${nodeName(place)}`,
            healthyAt: since,
            failedAt: at % 50 === 0 && copy > 0 ? since : '',
            desireState: 'running',
          },
          status: { currentState: 'running', instanceManagerName: `im-${nodeName(place)}` },
        }),
      ),
    ),
    engines: [],
    instanceManagers: names.map(
      (name): LonghornInstanceManager => ({
        ...longhorn,
        kind: 'InstanceManager',
        metadata: { name: `im-${name}`, namespace },
        spec: { nodeID: name, image: 'longhorn/longhorn-instance-manager:v1', type: 'aio', dataEngine: 'v1' },
        status: { currentState: 'running' },
      }),
    ),
    attachments: [],
    kubeNodes: names.map((name, at) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { unschedulable: at % 10 === 0 },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })),
    budgets: names.map((name) => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: `im-${name}`, namespace },
      spec: { minAvailable: 1, selector: { matchLabels: { 'longhorn.io/component': 'instance-manager' } } },
    })),
    disruptions: [],
    storageClasses: [],
    persistentVolumes: [],
    managerSets: [],
    managerPods: [],
  }
}

function placement(random: Random): number[] {
  const places = new Set<number>()
  while (places.size < copies) places.add((random.next() * nodeCount) | 0)
  return [...places]
}

type Change = (objects: LonghornObjects, at: number) => LonghornObjects

const changes: Readonly<Record<string, Change>> = { 'a replica failed': failReplica, 'a node was cordoned': cordonNode }

function failReplica(before: LonghornObjects, at: number): LonghornObjects {
  const place = at * 7
  const replica = before.replicas[place] as LonghornReplica
  const failed = { ...replica, spec: { ...replica.spec, failedAt: since } }
  return { ...before, replicas: before.replicas.with(place, failed) }
}

function cordonNode(before: LonghornObjects, at: number): LonghornObjects {
  const place = at * 10 + 5
  const node = before.kubeNodes[place] as LonghornObjects['kubeNodes'][number]
  return { ...before, kubeNodes: before.kubeNodes.with(place, { ...node, spec: { unschedulable: true } }) }
}

function setting(
  name: string,
  value: string,
  annotations: Readonly<Record<string, string>> = {},
): LonghornObjects['settings'][number] {
  return { ...longhorn, kind: 'Setting', metadata: { name, namespace: 'longhorn-system', annotations }, value }
}

function heldNodes({ nodes }: LonghornDecision): number {
  return nodes.filter(({ mayDrain }) => !mayDrain).length
}

function milliseconds(seconds: number, digits = 0): string {
  return `${(seconds * 1000).toFixed(digits)} ms`
}

async function measureCold(objects: LonghornObjects): Promise<Row[]> {
  let snapshot: LonghornSnapshot | undefined
  const read = await cpuSecondsOf(() => {
    snapshot = createLonghornParser()(objects)
  })
  let held = 0
  const decided = await cpuSecondsOf(() => {
    held = heldNodes(createLonghornJudge().decide(snapshot as LonghornSnapshot))
  })
  return [
    {
      measured: `${what}: everything decided from nothing (${held} of 100 cordoned nodes must wait): CPU`,
      result: milliseconds(decided),
      goal: 'under 1,000 ms',
      reached: decided < 1 && held > 0 && held < 100,
    },
    {
      measured: `${what}: the same with the reading of the objects: CPU`,
      result: milliseconds(read + decided),
      goal: 'under 1,000 ms',
      reached: read + decided < 1,
    },
  ]
}

async function measureChanges(start: LonghornObjects, [name, change]: readonly [string, Change]): Promise<Row[]> {
  const judge = createLonghornJudge()
  const parse = createLonghornParser()
  judge.decide(parse(start))
  const rounds = 90
  const snapshots: LonghornSnapshot[] = []
  let read = 0
  let objects = start
  for (let round = 0; round < rounds; round += 1) {
    objects = change(objects, round)
    const now = objects
    read += await cpuSecondsOf(() => void snapshots.push(parse(now)))
  }
  let answered = 0
  const decided = await cpuSecondsOf(() => {
    for (const snapshot of snapshots) answered += judge.decide(snapshot).budgets.length
  })
  const each = decided / rounds
  return [
    {
      measured: `${what}: all decided again after ${name}, mean of ${rounds}: CPU`,
      result: milliseconds(each, 2),
      goal: 'under 5 ms',
      reached: each < 0.005 && answered === rounds * nodeCount,
    },
    {
      measured: `${what}: all lists read again after ${name}, mean of ${rounds}: CPU`,
      result: milliseconds(read / rounds, 2),
      goal: 'under 5 ms',
      reached: read / rounds < 0.005,
    },
  ]
}

async function measureAutoscaled(start: LonghornObjects): Promise<Row[]> {
  const autoscaled = {
    ...start,
    settings: [...start.settings, setting('kubernetes-cluster-autoscaler-enabled', 'true')],
  }
  const [first] = await measureChanges(autoscaled, ['a replica failed in an autoscaled cluster', failReplica])
  return first === undefined ? [] : [first]
}

const objects = exampleObjects(seededRandom(1))
const rows = await measureCold(objects)
for (const change of Object.entries(changes)) rows.push(...(await measureChanges(objects, change)))
rows.push(...(await measureAutoscaled(objects)))
printRows(rows)
