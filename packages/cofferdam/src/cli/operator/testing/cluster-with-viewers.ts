import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, serviceAccounts } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { buildPartAccess } from '../../../deploy/access-manifests.ts'
import { buildDashboardViewer } from '../../../deploy/dashboard-manifests.ts'
import { permissionsOf } from '../../../operator/controller-names.ts'
import { dashboardAudience } from '../../../shared/dashboard-permission.ts'
import { installOperator } from '../../demo/install-operator.ts'

const namespace = 'default'

/** The operator's account with the rights of deploy/ and deploy/dashboard, and two accounts of people: ann may see the page, bob may not. */
export async function clusterWithViewers<C extends Clock>(clock: C) {
  const server = new ApiServer({ clock, random: seededRandom(1) })
  server.start()
  const admin = server.as(clusterAdmin)
  const operator = await installOperator(server)
  const viewer = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'viewers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cofferdam-dashboard-viewer' },
    subjects: [{ kind: 'ServiceAccount', name: 'ann', namespace }],
  }
  const parts = [...buildPartAccess('dashboard', permissionsOf), ...buildDashboardViewer(), viewer]
  const account = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  for (const object of [...parts, account('ann'), account('bob')] as unknown as KubeObject[]) {
    await admin.create(typeOfObject(server.catalogue, object) as typeof nodes, object)
  }
  await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-a1' } })
  const tokenOf = async (name: string, audiences: readonly string[] = [dashboardAudience]) => {
    const spec = { audiences, expirationSeconds: 600 }
    const { status } = await admin.createSubresource(serviceAccounts, { namespace, name }, 'token', { spec })
    return (status as { readonly token: string }).token
  }
  return { clock, admin, operator, tokenOf, stop: () => server.stop() }
}
