import { crdStrategy } from '../crd/crd-strategy.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import { admissionPolicyBindingStrategy, admissionPolicyStrategy } from './admission-policy-strategy.ts'
import { persistentVolumeClaimStrategy, priorityClassStrategy, storageClassStrategy } from './class-strategies.ts'
import { daemonSetStrategy } from './daemon-set-strategy.ts'
import { configMapStrategy, secretStrategy } from './data-strategies.ts'
import { deploymentStrategy } from './deployment-strategy.ts'
import { eventStrategy, newEventStrategy } from './event-strategies.ts'
import { cronJobStrategy, jobStrategy } from './job-strategy.ts'
import { leaseStrategy } from './lease-strategy.ts'
import { namespaceStrategy } from './namespace-strategy.ts'
import { nodeStrategy } from './node-strategy.ts'
import { pdbStrategy } from './pdb-strategy.ts'
import { podStrategy } from './pod-strategy.ts'
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from './rbac-strategies.ts'
import { replicaSetStrategy, replicationControllerStrategy } from './replica-set-strategy.ts'
import { serviceStrategy } from './service-strategy.ts'
import { statefulSetStrategy } from './stateful-set-strategy.ts'
import { webhookConfigurationStrategy } from './webhook-configuration-strategy.ts'

const strategies: Readonly<Record<string, ResourceStrategy>> = {
  '/ConfigMap': configMapStrategy,
  '/Event': eventStrategy,
  '/Namespace': namespaceStrategy,
  '/Node': nodeStrategy,
  '/PersistentVolumeClaim': persistentVolumeClaimStrategy,
  '/Pod': podStrategy,
  '/ReplicationController': replicationControllerStrategy,
  '/Secret': secretStrategy,
  '/Service': serviceStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': admissionPolicyStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': admissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookConfigurationStrategy,
  'apiextensions.k8s.io/CustomResourceDefinition': crdStrategy,
  'apps/DaemonSet': daemonSetStrategy,
  'apps/Deployment': deploymentStrategy,
  'apps/ReplicaSet': replicaSetStrategy,
  'apps/StatefulSet': statefulSetStrategy,
  'batch/CronJob': cronJobStrategy,
  'batch/Job': jobStrategy,
  'coordination.k8s.io/Lease': leaseStrategy,
  'events.k8s.io/Event': newEventStrategy,
  'policy/PodDisruptionBudget': pdbStrategy,
  'rbac.authorization.k8s.io/ClusterRole': clusterRoleStrategy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': clusterRoleBindingStrategy,
  'rbac.authorization.k8s.io/Role': roleStrategy,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingStrategy,
  'scheduling.k8s.io/PriorityClass': priorityClassStrategy,
  'storage.k8s.io/StorageClass': storageClassStrategy,
}

const plain: ResourceStrategy = {}

/** The rules of one kind beyond its schema; most kinds have none. */
export function strategyOf({ group, kind }: { readonly group: string; readonly kind: string }): ResourceStrategy {
  return strategies[`${group}/${kind}`] ?? plain
}
