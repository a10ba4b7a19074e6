import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import {
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import {
  cephBlockPools,
  cephClusters,
  cephFilesystems,
  cephObjectStores,
} from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, leases, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { disruptionLedgers } from '../../shared/kinds/disruption-ledger.ts'
import { disruptionPolicies } from '../../shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'

/** What a bundle has. Secrets and ConfigMaps are not among them, and are never read. */
export const bundledKinds: readonly ResourceType<KubeObject>[] = [
  nodeDisruptions,
  disruptionLedgers,
  disruptionPolicies,
  nodes,
  pods,
  podDisruptionBudgets,
  events,
  leases,
  validatingWebhookConfigurations,
  cephClusters,
  cephBlockPools,
  cephFilesystems,
  cephObjectStores,
  longhornNodes,
  longhornSettings,
  longhornVolumes,
  longhornReplicas,
]
