import type { MachineHealthCheck, NodeHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { medik8sLeaseNamespace, nodeHealthChecks } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  createBudgetHealthCheck,
  type Remediator,
  type RemediatorPorts,
} from '@cofferdam/simulator/world/machines/budget-health-check.ts'
import type { MachineApi, MachineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { createModernHealthChecks } from '@cofferdam/simulator/world/machines/modern-health-checks.ts'
import { createNodeHealthCheck } from '@cofferdam/simulator/world/machines/node-health-check.ts'
import type { RemedyKind } from '@cofferdam/simulator/world/machines/remedy.ts'

/**
 * `budget`: as of 2019, which asks budgets. `openshift`, `cluster-api`: MachineHealthChecks of today. `medik8s`: with Leases;
 * `medik8s-without-leases`: its namespace for them is missing. `absent`: there is an object and nobody who looks after it.
 */
export type RemediatorStyle =
  | 'budget'
  | 'openshift'
  | 'cluster-api'
  | 'medik8s'
  | 'medik8s-without-leases'
  | 'absent'
  | 'none'

export interface RemediatorOptions {
  readonly style: RemediatorStyle
  readonly remedy: RemedyKind
  readonly notReadySeconds: number
  readonly kinds: MachineKinds
}

/** All of its machines may be sick at once: what it must not do is for others to say. */
const anyNumber = '100%'
/** On a health check of OpenShift: hosts are rebooted in place, their Machines stay. */
const rebootsInstead = { 'machine.openshift.io/remediation-strategy': 'external-baremetal' }
const sickStates = ['False', 'Unknown'] as const

export function machineApiOf(style: RemediatorStyle): MachineApi {
  return style === 'cluster-api' ? 'cluster-api' : 'openshift'
}

/** What is there before whoever remediates comes: his namespace and his object. */
export async function seedRemediator(
  api: KubeApi,
  { style, remedy, notReadySeconds, kinds }: RemediatorOptions,
): Promise<void> {
  if (style === 'medik8s') {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: medik8sLeaseNamespace } })
  }
  if (style === 'medik8s' || style === 'medik8s-without-leases') {
    const check: NodeHealthCheck = {
      apiVersion: apiVersionOf(nodeHealthChecks),
      kind: nodeHealthChecks.kind,
      metadata: { name: 'workers' },
      spec: {
        selector: {},
        maxUnhealthy: anyNumber,
        unhealthyConditions: sickStates.map((status) => ({ type: 'Ready', status, duration: `${notReadySeconds}s` })),
      },
    }
    await api.create(nodeHealthChecks, check)
  }
  if (style === 'openshift' || style === 'cluster-api' || style === 'absent') {
    const check: MachineHealthCheck = {
      apiVersion: apiVersionOf(kinds.healthChecks),
      kind: kinds.healthChecks.kind,
      metadata: {
        name: 'workers',
        namespace: kinds.namespace,
        annotations: { 'example.com/owner': 'bob', ...(remedy === 'reboot' ? rebootsInstead : {}) },
      },
      spec: {
        ...(kinds.api === 'cluster-api' ? { clusterName: 'cluster' } : {}),
        selector: {},
        maxUnhealthy: anyNumber,
        unhealthyConditions: sickStates.map((status) => ({ type: 'Ready', status, timeout: `${notReadySeconds}s` })),
      },
    }
    await api.create(kinds.healthChecks, check)
  }
}

export function startRemediator(ports: RemediatorPorts, options: RemediatorOptions): Remediator | undefined {
  const { style, remedy, notReadySeconds, kinds } = options
  switch (style) {
    case 'budget':
      return createBudgetHealthCheck(ports, { notReadySeconds, remedy })
    case 'openshift':
    case 'cluster-api':
      return createModernHealthChecks(ports, { api: kinds.api, remedy })
    case 'medik8s':
    case 'medik8s-without-leases':
      return createNodeHealthCheck(ports)
    default:
      return undefined
  }
}
