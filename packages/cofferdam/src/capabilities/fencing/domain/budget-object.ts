import { type MachineDisruptionBudget, machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { WantedMachineBudget } from './decision.ts'
import { fenceLabelValue } from './fence-labels.ts'
import { marks } from './marks.ts'

/** On budgets that we made. */
const managedByUs: Readonly<Record<string, string>> = { 'app.kubernetes.io/managed-by': 'cofferdam' }

/**
 * The budget of a cluster, as Rook named and labelled it. Owners do not reach across namespaces, so the cluster's uid stands
 * in an annotation, and whoever finds the cluster gone deletes the budget.
 */
export function buildMachineBudget(
  {
    namespace,
    name,
    labelKey,
    maxUnavailable,
  }: Pick<WantedMachineBudget, 'namespace' | 'name' | 'labelKey' | 'maxUnavailable'>,
  cluster: { readonly namespace: string; readonly name: string; readonly uid: string },
  notes: Readonly<Record<string, string>> = {},
): MachineDisruptionBudget & Required<Pick<MachineDisruptionBudget, 'spec'>> {
  return {
    apiVersion: apiVersionOf(machineDisruptionBudgets),
    kind: machineDisruptionBudgets.kind,
    metadata: {
      namespace,
      name,
      labels: {
        ...managedByUs,
        'rook.io/cephClusterName': cluster.name,
        'rook.io/cephClusterNamespace': cluster.namespace,
      },
      annotations: { ...notes, [marks.clusterUid]: cluster.uid },
    },
    spec: { maxUnavailable, selector: { matchLabels: { [labelKey]: fenceLabelValue } } },
  }
}
