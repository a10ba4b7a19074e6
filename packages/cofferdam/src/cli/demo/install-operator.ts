import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin, serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { buildAccess, buildPartAccess, type StoragePlaces } from '../../deploy/access-manifests.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { buildGuardConfigurationManifest } from '../../deploy/guard-manifests.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { permissionsOf } from '../../operator/controller-names.ts'
import { cephParts } from '../../shared/permission.ts'

/**
 * Installs what deploy/ holds: the base, and what Ceph clusters and Longhorn need in these namespaces. Returns the API as the operator's
 * own ServiceAccount may use it.
 */
export async function installOperator(server: ApiServer, places: StoragePlaces = {}): Promise<KubeApi> {
  const admin = server.as(clusterAdmin)
  const manifests = [
    ...buildCustomResourceDefinitions(),
    ...buildAccess(permissionsOf),
    ...buildGuardConfigurationManifest(),
    ...cephParts.flatMap((part) => buildPartAccess(part, permissionsOf, places)),
    ...(places.longhorn === undefined ? [] : buildPartAccess('longhorn', permissionsOf, places)),
  ] as readonly KubeObject[]
  for (const manifest of manifests) {
    const type = typeOfObject(server.catalogue, manifest)
    if (type === undefined) throw new Error(`the embedded server does not serve ${manifest.kind}`)
    await admin.create(type, manifest)
  }
  return server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
}
