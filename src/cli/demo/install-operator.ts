import type { KubeObject } from '../../api/kube-object.ts'
import { longhornNamespace } from '../../api/longhorn.ts'
import { namespaces } from '../../api/resources.ts'
import { cephParts } from '../../controllers/permission.ts'
import { buildAccess, buildPartAccess } from '../../deploy/access-manifests.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { buildGuardConfigurationManifest } from '../../deploy/guard-manifests.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import type { ApiServer } from '../../embedded/api-server.ts'
import { typeOfObject } from '../../embedded/type-of-object.ts'
import { clusterAdmin, serviceAccountUser } from '../../embedded/user-info.ts'
import type { KubeApi } from '../../kube/kube-api.ts'
import { permissionsOf } from '../../wiring/controller-names.ts'

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
