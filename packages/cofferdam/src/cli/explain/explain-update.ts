import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
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
import type { Subject } from './explain-subject.ts'
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
  return {
    kind: 'cephcluster',
    ...explainCephCluster(guards, { seen, osdPods }),
    observedAt: read.now,
    notSeen: [...new Set(read.notSeen)],
  }
}

/** By its id, or by its Deployment. */
export async function explainNamedOsd(
  subject: Extract<Subject, { readonly kind: 'osd' | 'deployment' }>,
  read: Reader,
): Promise<Explained> {
  const { kind, namespace, name } = subject
  const object = `${kind}/${namespace}/${name}`
  const osd = kind === 'osd' ? Number(name) : await osdOfDeployment({ namespace, name }, read)
  const updates = await readUpdates(read, namespace)
  const seen = updates.find(({ osds }) => osds?.some(({ id }) => id === osd)) ?? updates[0]
  if (seen === undefined || (seen.osds !== undefined && !seen.osds.some(({ id }) => id === osd))) {
    throw new CofferdamError('OBJECT_NOT_FOUND', `there is no OSD ${osd} in namespace ${namespace}`, {
      facts: { kind: 'OSD', object },
      hint: `kubectl get deployments -n ${namespace} -l app=rook-ceph-osd shows those there are`,
    })
  }
  const { osdPods, guards } = await observeOsds(namespace, (id) => id === osd, read)
  return {
    kind: 'osd',
    ...explainOsd(guards, { osd, object, osdPods, seen }),
    observedAt: read.now,
    notSeen: [...new Set(read.notSeen)],
  }
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

async function osdOfDeployment(key: Required<ObjectKey>, read: Reader): Promise<number> {
  const osd = osdOf(await findObject(deployments, key, read))
  if (osd !== undefined) return osd
  throw new CofferdamError('USAGE', `deployment ${key.namespace}/${key.name} is not of an OSD`, {
    hint: 'explain its pods: cofferdam explain pod/NAMESPACE/NAME',
  })
}
