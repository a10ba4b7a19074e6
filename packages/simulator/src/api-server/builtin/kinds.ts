/** What sets one built-in resource apart from the next; what is left out is the usual. */
export interface KindEntry {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly singular?: string
  readonly namespaced?: false
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly hasStatus?: true
  readonly scale?: true
  readonly postSubresources?: readonly string[]
  readonly selectableFields?: readonly string[]
  readonly hasGeneration?: true
  readonly countsAnnotations?: true
}

const core = { group: '', version: 'v1' }
const apps = { group: 'apps', version: 'v1' }
const batch = { group: 'batch', version: 'v1' }
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const storage = { group: 'storage.k8s.io', version: 'v1' }
const authentication = { group: 'authentication.k8s.io', version: 'v1' }
const authorization = { group: 'authorization.k8s.io', version: 'v1' }

const clusterScoped = { namespaced: false } as const
const statusful = { hasStatus: true } as const
const counted = { hasGeneration: true } as const
const scaled = { scale: true } as const
const all = { categories: ['all'] }
const apiExtensions = { categories: ['api-extensions'] }

const podFields = [
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.podIPs',
  'status.nominatedNodeName',
]

const eventFields = ['reason', 'reportingComponent', 'source', 'type']
const referenceFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const fieldsOf = (reference: string) => referenceFields.map((field) => `${reference}.${field}`)

export const builtinKinds: readonly KindEntry[] = [
  { ...core, plural: 'bindings', kind: 'Binding' },
  { ...core, plural: 'configmaps', kind: 'ConfigMap', shortNames: ['cm'] },
  { ...core, plural: 'endpoints', kind: 'Endpoints', singular: 'endpoints', shortNames: ['ep'] },
  {
    ...core,
    plural: 'events',
    kind: 'Event',
    shortNames: ['ev'],
    selectableFields: [...fieldsOf('involvedObject'), ...eventFields],
  },
  { ...core, plural: 'limitranges', kind: 'LimitRange', shortNames: ['limits'] },
  {
    ...core,
    plural: 'namespaces',
    kind: 'Namespace',
    ...clusterScoped,
    ...statusful,
    shortNames: ['ns'],
    selectableFields: ['status.phase'],
  },
  {
    ...core,
    plural: 'nodes',
    kind: 'Node',
    ...clusterScoped,
    ...statusful,
    shortNames: ['no'],
    selectableFields: ['spec.unschedulable'],
  },
  {
    ...core,
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    ...statusful,
    shortNames: ['pvc'],
  },
  {
    ...core,
    plural: 'persistentvolumes',
    kind: 'PersistentVolume',
    ...clusterScoped,
    ...statusful,
    shortNames: ['pv'],
  },
  {
    ...core,
    plural: 'pods',
    kind: 'Pod',
    ...statusful,
    ...counted,
    ...all,
    shortNames: ['po'],
    postSubresources: ['binding', 'eviction'],
    selectableFields: podFields,
  },
  { ...core, plural: 'podtemplates', kind: 'PodTemplate', ...counted },
  {
    ...core,
    plural: 'replicationcontrollers',
    kind: 'ReplicationController',
    ...statusful,
    ...counted,
    ...scaled,
    ...all,
    shortNames: ['rc'],
    selectableFields: ['status.replicas'],
  },
  { ...core, plural: 'resourcequotas', kind: 'ResourceQuota', ...statusful, shortNames: ['quota'] },
  { ...core, plural: 'secrets', kind: 'Secret', selectableFields: ['type'] },
  { ...core, plural: 'serviceaccounts', kind: 'ServiceAccount', shortNames: ['sa'], postSubresources: ['token'] },
  {
    ...core,
    plural: 'services',
    kind: 'Service',
    ...statusful,
    ...all,
    shortNames: ['svc'],
    selectableFields: ['spec.clusterIP', 'spec.type'],
  },
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingadmissionpolicies',
    kind: 'ValidatingAdmissionPolicy',
    ...clusterScoped,
    ...statusful,
    ...counted,
    ...apiExtensions,
  },
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
    ...clusterScoped,
    ...counted,
    ...apiExtensions,
  },
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    ...clusterScoped,
    ...counted,
    ...apiExtensions,
  },
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    ...clusterScoped,
    ...statusful,
    ...counted,
    ...apiExtensions,
    shortNames: ['crd', 'crds'],
  },
  { ...apps, plural: 'controllerrevisions', kind: 'ControllerRevision' },
  { ...apps, plural: 'daemonsets', kind: 'DaemonSet', ...statusful, ...counted, ...all, shortNames: ['ds'] },
  {
    ...apps,
    plural: 'deployments',
    kind: 'Deployment',
    countsAnnotations: true,
    ...statusful,
    ...counted,
    ...scaled,
    ...all,
    shortNames: ['deploy'],
  },
  {
    ...apps,
    plural: 'replicasets',
    kind: 'ReplicaSet',
    ...statusful,
    ...counted,
    ...scaled,
    ...all,
    shortNames: ['rs'],
  },
  {
    ...apps,
    plural: 'statefulsets',
    kind: 'StatefulSet',
    ...statusful,
    ...counted,
    ...scaled,
    ...all,
    shortNames: ['sts'],
  },
  { ...authentication, plural: 'selfsubjectreviews', kind: 'SelfSubjectReview', ...clusterScoped },
  { ...authentication, plural: 'tokenreviews', kind: 'TokenReview', ...clusterScoped },
  { ...authorization, plural: 'localsubjectaccessreviews', kind: 'LocalSubjectAccessReview' },
  { ...authorization, plural: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview', ...clusterScoped },
  { ...authorization, plural: 'selfsubjectrulesreviews', kind: 'SelfSubjectRulesReview', ...clusterScoped },
  { ...authorization, plural: 'subjectaccessreviews', kind: 'SubjectAccessReview', ...clusterScoped },
  { ...batch, plural: 'cronjobs', kind: 'CronJob', ...statusful, ...counted, ...all, shortNames: ['cj'] },
  {
    ...batch,
    plural: 'jobs',
    kind: 'Job',
    ...statusful,
    ...counted,
    ...all,
    selectableFields: ['status.successful'],
  },
  { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' },
  { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', kind: 'EndpointSlice', ...counted },
  {
    group: 'events.k8s.io',
    version: 'v1',
    plural: 'events',
    kind: 'Event',
    shortNames: ['ev'],
    selectableFields: [...fieldsOf('regarding'), 'reason', 'reportingController', 'type'],
  },
  {
    group: 'policy',
    version: 'v1',
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    ...statusful,
    ...counted,
    shortNames: ['pdb'],
  },
  { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', ...clusterScoped },
  { ...rbac, plural: 'clusterroles', kind: 'ClusterRole', ...clusterScoped },
  { ...rbac, plural: 'rolebindings', kind: 'RoleBinding' },
  { ...rbac, plural: 'roles', kind: 'Role' },
  {
    group: 'scheduling.k8s.io',
    version: 'v1',
    plural: 'priorityclasses',
    kind: 'PriorityClass',
    ...clusterScoped,
    ...counted,
    shortNames: ['pc'],
  },
  { ...storage, plural: 'csidrivers', kind: 'CSIDriver', ...clusterScoped },
  { ...storage, plural: 'csinodes', kind: 'CSINode', ...clusterScoped },
  { ...storage, plural: 'storageclasses', kind: 'StorageClass', ...clusterScoped, shortNames: ['sc'] },
  { ...storage, plural: 'volumeattachments', kind: 'VolumeAttachment', ...clusterScoped, ...statusful },
]
