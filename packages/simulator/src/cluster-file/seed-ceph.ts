import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions, deployments, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { rookOperatorDeployment } from '../world/ceph/rook/budget-controller.ts'
import { buildCephDaemons } from './build-ceph-daemons.ts'
import { buildCephCluster, buildCephResources, buildCephStatus } from './build-ceph-resources.ts'
import type { Pace } from './cluster-schema.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import { rookDefinitions } from './rook-definitions.ts'

const fieldManager = 'rook'

/** Creates Rook's kinds, the Ceph cluster and its daemons, owners before what they own. What is there stays as it is. */
export async function seedCeph(api: KubeApi, ceph: CephClusterDescription, pace: Pace): Promise<void> {
  for (const definition of rookDefinitions()) await createOnce(api, customResourceDefinitions, definition)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ceph.namespace } }
  await createOnce(api, namespaces, namespace)

  const resources = [
    { type: cephClusters as ResourceType, object: buildCephCluster(ceph) },
    ...buildCephResources(ceph),
  ]
  const made: KubeObject[] = []
  for (const { type, object } of resources) {
    const created = await createOnce(api, type, object)
    made.push(created)
    const body = { status: buildCephStatus(created) }
    await api.patch(type, keyOf(created), { type: 'merge', body }, { subresource: 'status', fieldManager })
  }
  const daemons = buildCephDaemons(ceph, {
    ownerOf: (kind, name) => made.find((object) => object.kind === kind && object.metadata.name === name) as KubeObject,
    terminationSeconds: pace.terminationSeconds,
  })
  for (const daemon of daemons) await createOnce(api, deployments, daemon)
  if (ceph.rook) await createOnce(api, deployments, rookOperatorDeployment(ceph.namespace))
}

async function createOnce<T extends KubeObject>(api: KubeApi, type: ResourceType<T>, object: T): Promise<T> {
  try {
    return await api.create(type, object, { fieldManager })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
    return api.get(type, keyOf(object))
  }
}
