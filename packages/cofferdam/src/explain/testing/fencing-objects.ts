import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Machine, MachineDisruptionBudget, MachineHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { buildMachineBudget } from '../../capabilities/fencing/domain/budget-object.ts'
import { marks } from '../../capabilities/fencing/domain/marks.ts'
import { emptyLedger } from '../../ledger/rules/ledger.ts'
import { known } from '../../shared/observed.ts'
import type { FencingSeen } from './listed-fencing.ts'
import { earlier, now } from './sample-objects.ts'

const label = 'fencegroup.rook.io/rook-ceph'
const machineNamespace = 'openshift-machine-api'
const rook = { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'uid-rook-ceph' }

export const cluster: CephCluster = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: rook }

export function fencedNode(name: string, isReady = true): Node {
  const status = isReady ? 'True' : 'Unknown'
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: earlier }] },
  }
}

/** Behind the node of the same name, labelled as while OSDs run there. */
export function machine(node: string, { isLabelled = true, metadata = {} }: MachineFacts = {}): Machine {
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'Machine',
    metadata: {
      namespace: machineNamespace,
      name: `m-${node}`,
      labels: { role: 'worker', ...(isLabelled ? { [label]: 'true' } : {}) },
      ...metadata,
    },
    status: { nodeRef: { name: node } },
  }
}

interface MachineFacts {
  readonly isLabelled?: boolean
  readonly metadata?: Partial<Machine['metadata']>
}

export function machineBudget(
  maxUnavailable: 0 | 1,
  more: Partial<Pick<MachineDisruptionBudget, 'status'>> & {
    readonly annotations?: Record<string, string>
    /** What the operator wrote down of Ceph. Default: all is clean and up. */
    readonly evidence?: Readonly<Record<string, unknown>>
  } = {},
): MachineDisruptionBudget {
  const wanted = { namespace: machineNamespace, name: 'rook-ceph-rook-ceph', labelKey: label, maxUnavailable }
  const made = buildMachineBudget(wanted, rook)
  const notes = { [marks.evidence]: JSON.stringify({ clean: true, up: '0-2', ...more.evidence }) }
  return {
    ...made,
    metadata: {
      ...made.metadata,
      generation: 1,
      annotations: { ...made.metadata.annotations, ...notes, ...more.annotations },
    },
    status: more.status ?? {
      observedGeneration: 1,
      disruptionsAllowed: maxUnavailable,
      currentHealthy: 3,
      desiredHealthy: 3 - maxUnavailable,
      expectedMachines: 3,
    },
  }
}

export function healthCheck(name: string, more: Partial<MachineHealthCheck> = {}): MachineHealthCheck {
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'MachineHealthCheck',
    metadata: { namespace: machineNamespace, name },
    spec: { selector: { matchLabels: { role: 'worker' } } },
    status: { expectedMachines: 3, currentHealthy: 3 },
    ...more,
  }
}

export function osd(id: number, node: string, isReady = true): { readonly deployment: Deployment; readonly pod: Pod } {
  const labels = { app: 'rook-ceph-osd', 'ceph-osd-id': String(id), 'topology-location-host': node }
  const status = isReady ? 'True' : 'False'
  return {
    deployment: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'rook-ceph', name: `rook-ceph-osd-${id}`, labels },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [], nodeSelector: { 'kubernetes.io/hostname': node } } },
      },
      status: { readyReplicas: isReady ? 1 : 0 },
    },
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'rook-ceph', name: `rook-ceph-osd-${id}-x`, labels },
      spec: { nodeName: node, containers: [] },
      status: { conditions: [{ type: 'Ready', status }] },
    },
  }
}

/** Three nodes with a machine and an OSD each, one more without an OSD, a health check, and a budget that lets one go. */
export function fencingSeen(more: Partial<FencingSeen> & { readonly osds?: readonly ReturnType<typeof osd>[] } = {}) {
  const names = ['n1', 'n2', 'n3']
  const { osds = names.map((name, index) => osd(index, name)), ...rest } = more
  const seen: FencingSeen = {
    nowMs: parseRfc3339(now) as number,
    openshiftMachines: [...names.map((name) => machine(name)), machine('app', { isLabelled: false })],
    clusterApiMachines: undefined,
    nodes: [...names, 'app'].map((name) => fencedNode(name)),
    budgets: [machineBudget(1)],
    openshiftHealthChecks: [healthCheck('workers')],
    clusterApiHealthChecks: [],
    nodeHealthChecks: [],
    leases: undefined,
    cephClusters: [cluster],
    osdDeployments: osds.map(({ deployment }) => deployment),
    osdPods: osds.map(({ pod }) => pod),
    storage: [],
    ledger: known(emptyLedger),
    attendance: { isAttended: true },
    ...rest,
  }
  return seen
}
