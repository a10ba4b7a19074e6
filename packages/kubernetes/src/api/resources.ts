import type { DaemonSet, Deployment, Job, ReplicaSet, StatefulSet } from './apps.ts'
import type { ConfigMap, Event, Lease, Namespace, Node, Pod, Secret } from './core.ts'
import type { KubeObject } from './kube-object.ts'
import type { PodDisruptionBudget } from './policy.ts'
import type { ResourceType } from './resource-type.ts'

const core = { group: '', version: 'v1' }
const apps = { group: 'apps', version: 'v1' }
const cluster = { namespaced: false }
const namespaced = { namespaced: true }

export const nodes: ResourceType<Node> = { ...core, plural: 'nodes', kind: 'Node', ...cluster }
export const namespaces: ResourceType<Namespace> = { ...core, plural: 'namespaces', kind: 'Namespace', ...cluster }
export const pods: ResourceType<Pod> = { ...core, plural: 'pods', kind: 'Pod', ...namespaced }
export const configMaps: ResourceType<ConfigMap> = { ...core, plural: 'configmaps', kind: 'ConfigMap', ...namespaced }
export const secrets: ResourceType<Secret> = { ...core, plural: 'secrets', kind: 'Secret', ...namespaced }
export const events: ResourceType<Event> = { ...core, plural: 'events', kind: 'Event', ...namespaced }
export const deployments: ResourceType<Deployment> = {
  ...apps,
  plural: 'deployments',
  kind: 'Deployment',
  ...namespaced,
}
export const replicaSets: ResourceType<ReplicaSet> = {
  ...apps,
  plural: 'replicasets',
  kind: 'ReplicaSet',
  ...namespaced,
}
export const statefulSets: ResourceType<StatefulSet> = {
  ...apps,
  plural: 'statefulsets',
  kind: 'StatefulSet',
  ...namespaced,
}
export const daemonSets: ResourceType<DaemonSet> = { ...apps, plural: 'daemonsets', kind: 'DaemonSet', ...namespaced }
export const jobs: ResourceType<Job> = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', ...namespaced }
export const podDisruptionBudgets: ResourceType<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  ...namespaced,
}
/** Where each kubelet renews a Lease with the name of its node. */
export const nodeLeaseNamespace = 'kube-node-lease'
export const leases: ResourceType<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  ...namespaced,
}
export const serviceAccounts: ResourceType<KubeObject> = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  ...namespaced,
}
export const customResourceDefinitions: ResourceType<KubeObject> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  ...cluster,
}
