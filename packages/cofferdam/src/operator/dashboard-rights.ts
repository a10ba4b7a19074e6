import { guardConfigurationName } from '../eviction-guard/domain/webhook-configuration.ts'
import type { Permission } from '../shared/permission.ts'

const grantedBy = 'dashboard'
const everywhere = (group: string, resources: readonly string[], verbs: Permission['verbs']): readonly Permission[] =>
  resources.map((resource) => ({ group, resource, verbs, grantedBy }))

/** What the operator's page needs beside the rights of the controllers: to ask who may see it, and to read what `explain` reads. */
export const dashboardRights: readonly Permission[] = [
  ...everywhere('authentication.k8s.io', ['tokenreviews'], ['create']),
  ...everywhere('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
  ...everywhere('', ['events'], ['list', 'watch']),
  ...everywhere('', ['persistentvolumeclaims', 'persistentvolumes'], ['get']),
  ...everywhere('apps', ['daemonsets', 'statefulsets'], ['get']),
  ...everywhere('apps', ['replicasets'], ['get', 'list']),
  ...everywhere('apps', ['deployments'], ['get', 'list', 'watch']),
  {
    group: 'admissionregistration.k8s.io',
    resource: 'validatingwebhookconfigurations',
    names: [guardConfigurationName],
    verbs: ['get'],
    grantedBy,
  },
]
