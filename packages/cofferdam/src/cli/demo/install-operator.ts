import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin, serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { buildAccess, buildPartAccess } from '../../deploy/access-manifests.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { buildGuardConfigurationManifest } from '../../deploy/guard-manifests.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { permissionsOf } from '../../operator/controller-names.ts'
import { cephParts } from '../../shared/permission.ts'

/**
 * Installs what deploy/ holds: the base, what Ceph clusters in these namespaces need, and what Longhorn needs where its namespace
 * is. Returns the API as the operator's own ServiceAccount may use it.
 */
export async function installOperator(server: ApiServer, cephNamespaces: readonly string[] = []): Promise<KubeApi> {
  const admin = server.as(clusterAdmin)
  const { items } = await admin.list(namespaces)
  const hasLonghorn = items.some(({ metadata }) => metadata.name === longhornNamespace)
  const manifests = [
    ...buildCustomResourceDefinitions(),
    ...buildAccess(permissionsOf),
    ...buildGuardConfigurationManifest(),
    ...cephParts.flatMap((part) => buildPartAccess(part, permissionsOf, cephNamespaces)),
    ...(hasLonghorn ? buildPartAccess('longhorn', permissionsOf) : []),
  ] as readonly KubeObject[]
  for (const manifest of manifests) {
    const type = typeOfObject(server.catalogue, manifest)
    if (type === undefined) throw new Error(`the embedded server does not serve ${manifest.kind}`)
    await admin.create(type, manifest)
  }
  return server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
}
