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

export const fencingTraces: readonly Trace[] = [
  trace({
    type: machineDisruptionBudgets,
    keys: [marks.clusterUid, marks.fences, marks.evidence],
    removal: ({ metadata }) =>
      metadata.annotations?.[marks.clusterUid] === undefined
        ? undefined
        : { verb: 'delete', says: 'budget of machines' },
  }),
  trace({
    type: leases,
    keys: [],
    removal: ({ metadata, spec }) =>
      metadata.namespace === medik8sLeaseNamespace && spec?.holderIdentity === leaseHolder
        ? { verb: 'delete', says: 'Lease of a node' }
        : undefined,
  }),
  ...[openshiftMachines, clusterApiMachines, older(clusterApiMachines)].flatMap(machineTraces),
  ...[openshiftHealthChecks, clusterApiHealthChecks, older(clusterApiHealthChecks)].map(checkTrace),
  trace({
    type: nodeHealthChecks,
    keys: [],
    removal: (check) => gate('the pause of Cofferdam', { kind: 'resume', remediatorKind: 'medik8s-nhc' }, check),
  }),
]

function older<T extends KubeObject>(type: ResourceType<T>): ResourceType<T> {
  return { ...type, version: olderClusterApiVersion }
}

/** One for each patch: each rests on what the one before has left. */
function machineTraces(type: ResourceType<Machine>): Trace[] {
  return [
    trace({
      type,
      keys: [marks.setByUs],
      removal: (machine) => gate('the mark that skips remediation', { kind: 'unskip-machine' }, machine),
    }),
    trace({
      type,
      keys: [hookOwner],
      removal: (machine) => gate('pre-terminate hook', { kind: 'unhook-machine' }, machine),
    }),
    trace({
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
    }),
  ]
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
