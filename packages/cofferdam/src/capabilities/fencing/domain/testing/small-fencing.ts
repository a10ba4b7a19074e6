import type { Lease, Node } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  type MachineHealthCheck,
  type NodeHealthCheck,
  openshiftMachineNamespace,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../../shared/kinds/node-disruption.ts'
import { known } from '../../../../shared/observed.ts'
import { budgetNotes } from '../budget-notes.ts'
import { buildMachineBudget } from '../budget-object.ts'
import { buildBudgetStatus, buildBudgetUpdate } from '../budget-update.ts'
import { decideFencing } from '../decide.ts'
import type { FencingDecision, GateChange } from '../decision.ts'
import { buildGatePatch } from '../gate-patch.ts'
import { buildLabelPatch } from '../label-patch.ts'
import { marks } from '../marks.ts'
import { buildNodeLease, nodeLeaseName } from '../node-lease.ts'
import { type FencingObjects, parseFencing } from '../parse-fencing.ts'
import type { RebootObjects } from '../parse-reboots.ts'
import type { FencedCluster } from '../snapshot.ts'

export const startMs = 1_800_000_000_000
export const minute = 60_000

export function exampleCluster(nodes: readonly string[], more: Partial<FencedCluster> = {}): FencedCluster {
  const { namespace = 'rook', name = 'ceph' } = more
  return {
    namespace,
    name,
    uid: `uid-of-${namespace}-${name}`,
    isBeingDeleted: false,
    settings: {
      isManaged: true,
      budgetNamespace: openshiftMachineNamespace,
      writesRookLabels: false,
      maxEvidenceAgeMs: minute,
      problems: [],
    },
    evidence: known({ polledAtMs: startMs, isClean: known(true), upOsds: new Set(nodes.keys()) }),
    osds: nodes.map((node, id) => ({ id, isReady: true, nodeName: known(node), domain: node })),
    heldBy: known([]),
    ...more,
  }
}

export function exampleMachine(node: string, more: Partial<Machine> = {}): Machine {
  const { metadata, ...rest } = more
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'Machine',
    spec: { providerID: `aws:///zone/${node}` },
    status: { nodeRef: { name: node } },
    ...rest,
    metadata: { namespace: openshiftMachineNamespace, name: `m-${node}`, ...metadata },
  }
}

export function exampleNode(name: string, { sickSinceMs, bootID = 'boot-1', readySinceMs }: NodeFacts = {}): Node {
  const sinceMs = sickSinceMs ?? readySinceMs ?? startMs - 60 * minute
  const status = sickSinceMs === undefined ? 'True' : 'Unknown'
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-of-${name}`, labels: { role: 'worker' } },
    status: {
      conditions: [{ type: 'Ready', status, lastTransitionTime: rfc3339(sinceMs) }],
      nodeInfo: { bootID } as NonNullable<NonNullable<Node['status']>['nodeInfo']>,
    },
  }
}

export interface NodeFacts {
  readonly sickSinceMs?: number
  readonly readySinceMs?: number
  readonly bootID?: string
}

/** Three nodes, each with a machine and an OSD; nobody looks after their health yet. */
export function smallFencing(more: Partial<FencingObjects> = {}): FencingObjects {
  const nodes = ['a', 'b', 'c']
  return {
    nowMs: startMs,
    clusters: [exampleCluster(nodes)],
    openshiftMachines: nodes.map((node) => exampleMachine(node)),
    clusterApiMachines: undefined,
    nodes: nodes.map((node) => exampleNode(node)),
    budgets: [],
    openshiftHealthChecks: [],
    clusterApiHealthChecks: [],
    nodeHealthChecks: [],
    leases: undefined,
    ...more,
  }
}

export const workersCheck: MachineHealthCheck = {
  apiVersion: 'machine.openshift.io/v1beta1',
  kind: 'MachineHealthCheck',
  metadata: { namespace: openshiftMachineNamespace, name: 'workers' },
  spec: { selector: {} },
  status: { expectedMachines: 3, currentHealthy: 3 },
}

export const nodesCheck: NodeHealthCheck = {
  apiVersion: 'remediation.medik8s.io/v1alpha1',
  kind: 'NodeHealthCheck',
  metadata: { name: 'workers' },
  spec: { selector: { matchLabels: { role: 'worker' } } },
  status: { phase: 'Enabled', observedNodes: 3 },
}

type RequestMore = Partial<NodeDisruption['metadata']> & {
  readonly spec?: Partial<NodeDisruption['spec']>
  readonly status?: Partial<NonNullable<NodeDisruption['status']>>
}

/** ann's request to reboot a node; by default it is drained and may go. */
export function exampleRequest(node: string, { spec, status, ...metadata }: RequestMore = {}): NodeDisruption {
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: `reboot-${node}`, uid: `uid-of-reboot-${node}`, ...metadata },
    spec: { nodeName: node, intent: 'Reboot', requester: 'ann', honourSkipDrain: true, ...spec },
    status: { phase: 'Drained', nodeUid: `uid-of-${node}`, bootIDBefore: 'boot-1', ...status },
  }
}

export function rebootsOf(...requests: readonly NodeDisruption[]): RebootObjects {
  return { requests: known(requests), begun: new Set(), plannedOutageMs: 60 * minute }
}

export function decide(objects: FencingObjects): FencingDecision {
  return decideFencing(parseFencing(objects))
}

/** Writes what was decided, as the operator does: labels, then budgets, then what remediators are told. */
export function applyDecision(objects: FencingObjects, decision: FencingDecision = decide(objects)): FencingObjects {
  const patched = <T extends KubeObject>(
    list: readonly T[] | undefined,
    isMeant: (object: T) => boolean,
    patch: (object: T) => JsonObject | undefined,
  ) => list?.map((object) => (isMeant(object) ? merged(object, patch(object)) : object))
  let now = objects
  for (const change of decision.labels) {
    const isMeant = ({ metadata }: Machine) =>
      metadata.name === change.machine && metadata.namespace === change.namespace
    const list = change.api === 'openshift' ? 'openshiftMachines' : 'clusterApiMachines'
    now = { ...now, [list]: patched(now[list], isMeant, (machine) => buildLabelPatch(change, machine)) }
  }
  now = { ...now, budgets: writtenBudgets(now, decision) }
  for (const gate of decision.gates) now = withGate(now, gate, patched)
  return withOutageNotes(now, decision)
}

function withOutageNotes(now: FencingObjects, { outageNotes }: FencingDecision): FencingObjects {
  const { reboots } = now
  if (reboots?.requests.known !== true || outageNotes.length === 0) return now
  const requests = reboots.requests.value.map((request) => {
    const note = outageNotes.find((each) => each.request === request.metadata.name)
    const awaySince = note?.awaySinceMs === undefined ? null : rfc3339(note.awaySinceMs)
    return note === undefined
      ? request
      : merged(request, { metadata: { annotations: { [marks.awaySince]: awaySince } } })
  })
  return { ...now, reboots: { ...reboots, requests: known(requests) } }
}

function writtenBudgets(
  { budgets: seen, clusters: seenClusters, nowMs }: FencingObjects,
  { clusters, fences, orphanBudgets }: FencingDecision,
) {
  let budgets = [...seen]
  const at = (namespace: string, name: string) =>
    budgets.findIndex(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  for (const cluster of clusters) {
    const { budget } = cluster
    if (budget === undefined) continue
    if (at(budget.namespace, budget.name) < 0) {
      budgets = [...budgets, { ...buildMachineBudget({ ...budget, maxUnavailable: 0 }, cluster) }]
    }
    const looked = seenClusters.find(({ uid }) => uid === cluster.uid)
    const notes = looked === undefined ? {} : budgetNotes(looked, cluster, nowMs)
    const place = at(budget.namespace, budget.name)
    const before = budgets[place] as MachineDisruptionBudget
    const updated = buildBudgetUpdate(before, { cluster, budget, fences, notes }) ?? before
    const status = buildBudgetStatus(updated, { cluster, budget, fences })
    budgets = budgets.with(place, status === undefined ? updated : { ...updated, status })
  }
  return budgets.filter(
    ({ metadata }) =>
      !orphanBudgets.some(({ namespace, name }) => metadata.name === name && metadata.namespace === namespace),
  )
}

type Patched = <T extends KubeObject>(
  list: readonly T[] | undefined,
  isMeant: (object: T) => boolean,
  patch: (object: T) => JsonObject | undefined,
) => readonly T[] | undefined

function withGate(now: FencingObjects, gate: GateChange, patched: Patched): FencingObjects {
  switch (gate.kind) {
    case 'hold-lease':
    case 'free-lease': {
      const isMeant = ({ metadata }: Lease) => metadata.name === nodeLeaseName(gate.node)
      const left = (now.leases ?? []).filter((lease) => !isMeant(lease))
      if (gate.kind === 'free-lease') return { ...now, leases: left }
      const seen = now.leases?.find(isMeant)
      const held = buildNodeLease({ node: gate.node, nodeUid: `uid-of-${gate.node}`, nowMs: now.nowMs, seen })
      return { ...now, leases: [...left, held] }
    }
    case 'pause':
    case 'resume': {
      const list = {
        'openshift-mhc': 'openshiftHealthChecks',
        'cluster-api-mhc': 'clusterApiHealthChecks',
        'medik8s-nhc': 'nodeHealthChecks',
      }[gate.remediatorKind] as 'openshiftHealthChecks'
      const isMeant = ({ metadata: { namespace, name } }: KubeObject) =>
        (namespace === undefined ? name : `${namespace}/${name}`) === gate.remediator
      return { ...now, [list]: patched(now[list], isMeant, (check) => buildGatePatch(gate, check)) ?? [] }
    }
    default: {
      const list = gate.kind.endsWith('skip-machine') ? 'clusterApiMachines' : 'openshiftMachines'
      const isMeant = ({ metadata }: Machine) => metadata.name === gate.machine && metadata.namespace === gate.namespace
      return { ...now, [list]: patched(now[list], isMeant, (machine) => buildGatePatch(gate, machine)) }
    }
  }
}

/** Writes until there is nothing more to write. */
export function settled(objects: FencingObjects, mostPasses = 5): FencingObjects {
  let now = objects
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const next = applyDecision(now)
    if (isSettled(next)) return next
    now = next
  }
  throw new Error(`it does not settle: ${JSON.stringify(decide(now))}`)
}

/** Whether nothing is left to write. */
export function isSettled(objects: FencingObjects): boolean {
  const { labels, gates, orphanBudgets, outageNotes } = decide(objects)
  const isSame = applyDecision(objects).budgets.every((budget, at) => budget === objects.budgets[at])
  return [labels, gates, orphanBudgets, outageNotes].every(({ length }) => length === 0) && isSame
}

function merged<T>(object: T, patch: JsonObject | undefined): T {
  return patch === undefined ? object : (mergedJson(object as Json, patch) as T)
}

function mergedJson(value: Json | undefined, patch: Json | undefined): Json | undefined {
  if (!isJsonObject(patch)) return patch
  const result: Record<string, Json | undefined> = isJsonObject(value) ? { ...value } : {}
  for (const [field, change] of Object.entries(patch)) {
    if (change === null) delete result[field]
    else if (change !== undefined) result[field] = mergedJson(result[field], change)
  }
  return result
}
