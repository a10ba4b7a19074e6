import type { KubeObject } from '../../api/kube-object.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { buildAccess, operatorAccount } from '../../deploy/operator-manifests.ts'
import type { ApiServer } from '../../embedded/api-server.ts'
import { typeOfObject } from '../../embedded/type-of-object.ts'
import { clusterAdmin, serviceAccountUser } from '../../embedded/user-info.ts'
import type { KubeApi } from '../../kube/kube-api.ts'
import { permissionsOf } from '../../wiring/controller-names.ts'

/** Installs what deploy/ holds, and returns the API as the operator's own ServiceAccount may use it. */
export async function installOperator(server: ApiServer): Promise<KubeApi> {
  const admin = server.as(clusterAdmin)
  const manifests = [...buildCustomResourceDefinitions(), ...buildAccess(permissionsOf)] as readonly KubeObject[]
  for (const manifest of manifests) {
    const type = typeOfObject(server.catalogue, manifest)
    if (type === undefined) throw new Error(`the embedded server does not serve ${manifest.kind}`)
    await admin.create(type, manifest)
  }
  return server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
}
