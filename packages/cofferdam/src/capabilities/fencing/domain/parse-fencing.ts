import type { Lease, Node } from '@cofferdam/kubernetes/api/core.ts'
import type {
  Machine,
  MachineDisruptionBudget,
  MachineHealthCheck,
  NodeHealthCheck,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { known } from '../../../shared/observed.ts'
import { ListIndex, ListReader } from '../../../shared/read-lists.ts'
import { Remembered } from '../../../shared/remembered.ts'
import { leaseHolder } from './marks.ts'
import { evidenceBeside, readyNodes } from './outdated-evidence.ts'
import { parseMachineBudget } from './parse-budget.ts'
import { parseMachine } from './parse-machine.ts'
import { parseReboots, type RebootObjects } from './parse-reboots.ts'
import { parseMachineHealthCheck, parseNodeHealthCheck } from './parse-remediators.ts'
import type { FencedCluster, FencedNodeView, FencingSnapshot, MachineView, NodeLeaseView } from './snapshot.ts'
import { WatchedNodes } from './watched-nodes.ts'

/** Everything as Kubernetes has it; of Ceph, what ceph-drain saw. */
export interface FencingObjects {
  readonly nowMs: number
  readonly clusters: readonly FencedCluster[]
  /** Undefined: the API server knows no such kind. */
  readonly openshiftMachines: readonly Machine[] | undefined
  readonly clusterApiMachines: readonly Machine[] | undefined
  readonly nodes: readonly Node[]
  readonly budgets: readonly MachineDisruptionBudget[]
  readonly openshiftHealthChecks: readonly MachineHealthCheck[]
  readonly clusterApiHealthChecks: readonly MachineHealthCheck[]
  /** Undefined: the API server knows no such kind. */
  readonly nodeHealthChecks: readonly NodeHealthCheck[] | undefined
  /** Leases of medik8s; undefined: their namespace does not exist. */
  readonly leases: readonly Lease[] | undefined
  /** Absent: nobody asks for a reboot. */
  readonly reboots?: RebootObjects
}

const none = known([])

export type ParseFencing = (objects: FencingObjects) => FencingSnapshot

export function parseFencing(objects: FencingObjects): FencingSnapshot {
  return createFencingParser()(objects)
}

/**
 * Reads the same lists again and again: what stands where it stood is not read twice, and keeps its identity. One bad object is
 * reported alone, and all others are read as usual.
 */
export function createFencingParser(): ParseFencing {
  const openshiftReader = new ListReader<Machine, MachineView>()
  const clusterApiReader = new ListReader<Machine, MachineView>()
  const nodeReader = new ListReader<Node, FencedNodeView>()
  const remembered = new Remembered()
  const watched = new WatchedNodes()
  const joined = new ListIndex((machines: readonly MachineView[]) => machines)

  return (objects) => {
    const { nowMs, clusters } = objects
    const openshift = openshiftReader.read(objects.openshiftMachines ?? [], [], (machine) => ({
      view: parseMachine(machine, 'openshift'),
    })).views
    const clusterApi = clusterApiReader.read(objects.clusterApiMachines ?? [], [], (machine) => ({
      view: parseMachine(machine, 'cluster-api'),
    })).views
    const machines = clusterApi.length === 0 ? openshift : joined.of([...openshift, ...clusterApi])
    const nodes = nodeReader.read(objects.nodes, [], (node) => ({ view: parseFencedNode(node) })).views
    const budgets = objects.budgets.map((budget) => remembered.make(budget, [], () => parseMachineBudget(budget)))
    const isNodeReady = readyNodes(nodes)
    return {
      nowMs,
      clusters: clusters.map((cluster) => ({ ...cluster, evidence: evidenceBeside(cluster, isNodeReady) })),
      areMachinesServed: objects.openshiftMachines !== undefined || objects.clusterApiMachines !== undefined,
      machines,
      areNodeChecksServed: objects.nodeHealthChecks !== undefined,
      nodes,
      budgets: budgets.map(({ view }) => view),
      remediators: [
        ...objects.openshiftHealthChecks.map((check) =>
          parseMachineHealthCheck(check, 'openshift-mhc', (selector) => watched.machines(check, selector, openshift)),
        ),
        ...objects.clusterApiHealthChecks.map((check) =>
          parseMachineHealthCheck(check, 'cluster-api-mhc', (selector) =>
            watched.machines(check, selector, clusterApi),
          ),
        ),
        ...(objects.nodeHealthChecks ?? []).map((check) =>
          parseNodeHealthCheck(check, (selector) => watched.nodes(check, selector, objects.nodes)),
        ),
      ],
      areLeasesUsed: objects.leases !== undefined,
      leases: new Map((objects.leases ?? []).flatMap(parseNodeLease)),
      reboots: objects.reboots === undefined ? none : parseReboots(objects.reboots),
      unreadable: budgets.flatMap(({ view, problem }) =>
        problem === undefined
          ? []
          : [{ object: `machinedisruptionbudget/${view.namespace}/${view.name}`, why: problem }],
      ),
    }
  }
}

function parseFencedNode(node: Node): FencedNodeView {
  const ready = conditionOf(node, 'Ready')
  const isReady = ready?.status === 'True'
  const sinceMs = parseRfc3339(ready?.lastTransitionTime ?? '')
  return {
    name: node.metadata.name,
    ...(node.metadata.uid === undefined ? {} : { uid: node.metadata.uid }),
    isReady,
    notReadySinceMs: isReady ? undefined : sinceMs,
    isSilent: ready?.status === 'Unknown',
    readySinceMs: isReady ? sinceMs : undefined,
    bootID: node.status?.nodeInfo?.bootID ?? '',
  }
}

/** `node-<name>`; others in the namespace are not about nodes. */
function parseNodeLease({ metadata, spec }: Lease): (readonly [string, NodeLeaseView])[] {
  if (!metadata.name.startsWith('node-') || spec?.holderIdentity === undefined || spec.holderIdentity === '') return []
  const renewedMs = parseRfc3339(spec.renewTime ?? '') ?? 0
  const view = {
    holder: spec.holderIdentity,
    validUntilMs: renewedMs + (spec.leaseDurationSeconds ?? 0) * 1_000,
    isOurs: spec.holderIdentity === leaseHolder,
  }
  return [[metadata.name.slice('node-'.length), view]]
}
