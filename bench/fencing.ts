import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { buildMachineBudget } from '@cofferdam/product/capabilities/fencing/domain/budget-object.ts'
import { createFencingJudge } from '@cofferdam/product/capabilities/fencing/domain/decide.ts'
import type { FencingDecision } from '@cofferdam/product/capabilities/fencing/domain/decision.ts'
import {
  createFencingParser,
  type FencingObjects,
} from '@cofferdam/product/capabilities/fencing/domain/parse-fencing.ts'
import type { FencedCluster } from '@cofferdam/product/capabilities/fencing/domain/snapshot.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import { cpuSecondsOf, printRows, type Row } from './report/rows.ts'

const machineCount = 5_000
const clusterCount = 10
const osdsPerMachine = 2
const what = '5,000 machines, 10 clusters, 10,000 OSDs'
const namespace = 'openshift-machine-api'
const since = '2026-01-01T00:00:00Z'
const nowMs = Date.parse(since) + 3_600_000

function nodeName(at: number): string {
  return `node-${String(at).padStart(4, '0')}`
}

function clusterOf(at: number): number {
  return at % clusterCount
}

function exampleCluster(at: number): FencedCluster {
  const hosts = Array.from({ length: machineCount }, (_, host) => host).filter((host) => clusterOf(host) === at)
  const osds = hosts.flatMap((host, place) =>
    Array.from({ length: osdsPerMachine }, (_, disk) => ({
      id: place * osdsPerMachine + disk,
      isReady: true,
      nodeName: known(nodeName(host)),
      domain: nodeName(host),
    })),
  )
  return {
    namespace: `rook-${at}`,
    name: `ceph-${at}`,
    uid: `uid-${at}`,
    isBeingDeleted: false,
    settings: {
      isManaged: true,
      budgetNamespace: namespace,
      writesRookLabels: false,
      maxEvidenceAgeMs: 60_000,
      problems: [],
    },
    evidence: known({ polledAtMs: nowMs, isClean: known(true), upOsds: new Set(osds.map(({ id }) => id)) }),
    osds,
    heldBy: known([]),
  }
}

function exampleMachine(at: number): Machine {
  const key = `fencegroup.rook.io/ceph-${clusterOf(at)}`
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'Machine',
    metadata: {
      namespace,
      name: `machine-${at}`,
      labels: { 'machine.openshift.io/cluster-api-machine-role': 'worker', [key]: 'true' },
      annotations: { 'cofferdam.io/fence-labels': key },
    },
    spec: { providerID: `aws:///zone/i-${at}` },
    status: { nodeRef: { name: nodeName(at) } },
  }
}

function exampleNode(at: number): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName(at), labels: { 'node-role.kubernetes.io/worker': '' } },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] },
  }
}

function exampleObjects(): FencingObjects {
  const places = Array.from({ length: machineCount }, (_, at) => at)
  const clusters = Array.from({ length: clusterCount }, (_, at) => exampleCluster(at))
  return {
    nowMs,
    clusters,
    openshiftMachines: places.map(exampleMachine),
    clusterApiMachines: undefined,
    nodes: places.map(exampleNode),
    budgets: clusters.map((cluster) =>
      buildMachineBudget(
        {
          namespace,
          name: `${cluster.name}-${cluster.namespace}`,
          labelKey: `fencegroup.rook.io/${cluster.name}`,
          maxUnavailable: 1,
        },
        cluster,
      ),
    ),
    openshiftHealthChecks: [
      {
        apiVersion: 'machine.openshift.io/v1beta1',
        kind: 'MachineHealthCheck',
        metadata: { namespace, name: 'workers' },
        spec: { selector: { matchLabels: { 'machine.openshift.io/cluster-api-machine-role': 'worker' } } },
        status: { expectedMachines: machineCount, currentHealthy: machineCount },
      },
    ],
    clusterApiHealthChecks: [],
    nodeHealthChecks: [
      {
        apiVersion: 'remediation.medik8s.io/v1alpha1',
        kind: 'NodeHealthCheck',
        metadata: { name: 'workers' },
        spec: { selector: { matchExpressions: [{ key: 'node-role.kubernetes.io/worker', operator: 'Exists' }] } },
        status: { phase: 'Enabled', observedNodes: machineCount },
      },
    ],
    leases: [],
  }
}

type Change = (objects: FencingObjects, at: number) => FencingObjects

const changes: Readonly<Record<string, Change>> = {
  'a node fell silent': (before, at) => {
    const status = { conditions: [{ type: 'Ready', status: 'Unknown' as const, lastTransitionTime: since }] }
    const node = before.nodes[at] as Node
    return { ...before, nodes: before.nodes.with(at, { ...node, status }) }
  },
  'an OSD went down': (before, at) => {
    const place = at % clusterCount
    const cluster = before.clusters[place] as FencedCluster
    const osd = cluster.osds[at] as FencedCluster['osds'][number]
    const evidence = cluster.evidence.known ? cluster.evidence.value : undefined
    const upOsds = new Set(evidence?.upOsds)
    upOsds.delete(osd.id)
    const changed = {
      ...cluster,
      osds: cluster.osds.with(at, { ...osd, isReady: false }),
      evidence: known({ polledAtMs: nowMs, isClean: known(false), upOsds }),
    }
    return { ...before, clusters: before.clusters.with(place, changed) }
  },
  'a machine was deleted': (before, at) => {
    const machines = before.openshiftMachines ?? []
    const machine = machines[at] as Machine
    const metadata = { ...machine.metadata, deletionTimestamp: since }
    return { ...before, openshiftMachines: machines.with(at, { ...machine, metadata }) }
  },
}

function milliseconds(seconds: number, digits = 0): string {
  return `${(seconds * 1000).toFixed(digits)} ms`
}

async function measureCold(objects: FencingObjects): Promise<Row[]> {
  let decision: FencingDecision | undefined
  const cold = await cpuSecondsOf(() => {
    decision = createFencingJudge().decide(createFencingParser()(objects))
  })
  const open = decision?.clusters.filter(({ budget }) => budget?.maxUnavailable === 1).length
  return [
    {
      measured: `${what}: all read and decided from nothing (${open} clusters can spare a machine): CPU`,
      result: milliseconds(cold),
      goal: 'under 1,000 ms',
      reached: cold < 1 && open === clusterCount && decision?.nodes.length === machineCount,
    },
  ]
}

async function measureChange(start: FencingObjects, [name, change]: readonly [string, Change]): Promise<Row> {
  const judge = createFencingJudge()
  const parse = createFencingParser()
  judge.decide(parse(start))
  const rounds = 200
  const states: FencingObjects[] = []
  let objects = start
  for (let round = 0; round < rounds; round += 1) {
    objects = change(objects, round)
    states.push(objects)
  }
  let answered = 0
  const spent = await cpuSecondsOf(() => {
    for (const state of states) answered += judge.decide(parse(state)).nodes.length
  })
  return {
    measured: `${what}: read and decided again after ${name}, mean of ${rounds}: CPU`,
    result: milliseconds(spent / rounds, 2),
    goal: 'under 5 ms',
    reached: spent / rounds < 0.005 && answered === rounds * machineCount,
  }
}

const objects = exampleObjects()
const rows = await measureCold(objects)
for (const change of Object.entries(changes)) rows.push(await measureChange(objects, change))
printRows(rows)
