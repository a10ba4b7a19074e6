import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { osdOf } from '../../capabilities/ceph-drain/view/storage-budget.ts'
import { readUpdates } from '../../capabilities/osd-update/observe/read-updates.ts'
import { explainOsdUpdate } from '../../capabilities/osd-update/view/explain-osd-update.ts'
import { explainCephCluster } from '../../explain/explain-ceph-cluster.ts'
import { explainOsd } from '../../explain/explain-osd.ts'
import type { PodExplanation } from '../../explain/explanation.ts'
import type { GuardSnapshot } from '../../explain/snapshot.ts'
import type { Reader } from '../../observe/reader.ts'
import { observePodGuards } from '../observe/observe-guards.ts'
import { answered } from './answered.ts'
import { findObject } from './find-object.ts'
import type { Explained } from './question.ts'

export async function explainNamedCluster(key: Required<ObjectKey>, read: Reader): Promise<Explained> {
  await findObject(cephClusters, key, read)
  const seen = (await readUpdates(read, key.namespace)).find(({ cluster }) => cluster.metadata.name === key.name)
  if (seen === undefined) {
    throw new CofferdamError('OBJECT_NOT_FOUND', `the OSDs of CephCluster ${key.namespace}/${key.name} run elsewhere`, {
      facts: { kind: 'CephCluster', object: `${key.namespace}/${key.name}` },
      hint: 'ask where its daemons run: spec.external.enable is true here',
    })
  }
  const { osdPods, guards } = await observeOsds(key.namespace, () => true, read)
  return answered({ kind: 'cephcluster', ...explainCephCluster(guards, { seen, osdPods }) }, read)
}

export async function explainNamedOsd(
  { namespace, osd, object }: { readonly namespace: string; readonly osd: number; readonly object: string },
  read: Reader,
): Promise<Explained> {
  const updates = await readUpdates(read, namespace)
  const seen = updates.find(({ osds }) => osds?.some(({ id }) => id === osd)) ?? updates[0]
  if (seen === undefined || (seen.osds !== undefined && !seen.osds.some(({ id }) => id === osd))) {
    throw new CofferdamError('OBJECT_NOT_FOUND', `there is no OSD ${osd} in namespace ${namespace}`, {
      facts: { kind: 'OSD', object },
      hint: `kubectl get deployments -n ${namespace} -l app=rook-ceph-osd shows those there are`,
    })
  }
  const { osdPods, guards } = await observeOsds(namespace, (id) => id === osd, read)
  return answered({ kind: 'osd', ...explainOsd(guards, { osd, object, osdPods, seen }) }, read)
}

/** The pods of these OSDs and what guards them, read as for any pod: without them there is no answer. */
async function observeOsds(
  namespace: string,
  isAsked: (osd: number) => boolean,
  read: Reader,
): Promise<{ readonly osdPods: readonly Pod[]; readonly guards: GuardSnapshot }> {
  const { api, signal } = read
  const [osds, budgets] = await Promise.all([
    api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd', signal }),
    api.list(podDisruptionBudgets, { namespace, signal }),
  ])
  const osdPods = osds.items.filter((pod) => {
    const id = osdOf(pod)
    return id !== undefined && isAsked(id)
  })
  return { osdPods, guards: await observePodGuards(osdPods, budgets.items, read) }
}

/** How far the update of the OSD behind a pod is; nothing for any other pod. */
export async function osdUpdateField(pod: Pod, read: Reader): Promise<Pick<PodExplanation, 'osdUpdate'>> {
  const osd = osdOf(pod)
  if (osd === undefined) return {}
  const updates = await readUpdates(read, pod.metadata.namespace ?? '')
  const seen = updates.find(({ osds }) => osds?.some(({ id }) => id === osd)) ?? updates[0]
  return seen === undefined ? {} : { osdUpdate: explainOsdUpdate(seen, osd) }
}
