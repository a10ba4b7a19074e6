import {
  clusterApiHealthChecks,
  clusterApiMachines,
  type Machine,
  type MachineHealthCheck,
  machineDisruptionBudgets,
  medik8sLeaseNamespace,
  nodeHealthChecks,
  olderClusterApiVersion,
  openshiftHealthChecks,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { mergePatch, type Removal, type Trace, trace } from '../../shared/trace.ts'
import { buildGatePatch } from './domain/gate-patch.ts'
import { hookOwner, leaseHolder, marks } from './domain/marks.ts'
import { marksOf } from './domain/parse-machine.ts'

type Gate = Parameters<typeof buildGatePatch>

const machines = [openshiftMachines, clusterApiMachines, older(clusterApiMachines)]
const healthChecks = [openshiftHealthChecks, clusterApiHealthChecks, older(clusterApiHealthChecks)]

/** What keeps remediation from a machine or a node while it is there. */
export const gateTraces: readonly Trace[] = [
  trace({
    type: leases,
    place: { namespace: medik8sLeaseNamespace },
    keys: [],
    removal: ({ spec }) =>
      spec?.holderIdentity === leaseHolder ? { verb: 'delete', says: 'Lease of a node' } : undefined,
  }),
  ...machines.map((type) =>
    trace({
      type,
      keys: [marks.setByUs],
      removal: (machine) => gate('the mark that skips remediation', { kind: 'unskip-machine' }, machine),
    }),
  ),
  ...machines.map((type) =>
    trace({
      type,
      keys: [hookOwner],
      removal: (machine) => gate('pre-terminate hook', { kind: 'unhook-machine' }, machine),
    }),
  ),
  ...healthChecks.map(checkTrace),
  trace({
    type: nodeHealthChecks,
    keys: [],
    removal: (check) => gate('the pause of Cofferdam', { kind: 'resume', remediatorKind: 'medik8s-nhc' }, check),
  }),
]

export const fencingTraces: readonly Trace[] = [
  ...gateTraces,
  trace({
    type: machineDisruptionBudgets,
    keys: [marks.clusterUid, marks.fences, marks.evidence],
    removal: ({ metadata }) =>
      metadata.annotations?.[marks.clusterUid] === undefined
        ? undefined
        : { verb: 'delete', says: 'budget of machines' },
  }),
  ...machines.map(labelTrace),
]

function older<T extends KubeObject>(type: ResourceType<T>): ResourceType<T> {
  return { ...type, version: olderClusterApiVersion }
}

function labelTrace(type: ResourceType<Machine>): Trace {
  return trace({
    type,
    keys: [marks.labels],
    removal(machine) {
      const text = machine.metadata.annotations?.[marks.labels]
      if (text === undefined) return undefined
      const labels = Object.fromEntries(marksOf(text).map((key) => [key, null]))
      return mergePatch(machine, 'labels for the budget of machines', {
        metadata: { labels, annotations: { [marks.labels]: null } },
      })
    },
  })
}

function checkTrace(type: ResourceType<MachineHealthCheck>): Trace {
  const remediatorKind = type.group === openshiftHealthChecks.group ? 'openshift-mhc' : 'cluster-api-mhc'
  return trace({
    type,
    keys: [marks.setByUs],
    removal: (check) => gate('the pause of Cofferdam', { kind: 'resume', remediatorKind }, check),
  })
}

function gate(says: string, change: Gate[0], seen: Gate[1]): Removal | undefined {
  const body = buildGatePatch(change, seen)
  return body === undefined ? undefined : { verb: 'patch', says, patch: { type: 'merge', body } }
}
