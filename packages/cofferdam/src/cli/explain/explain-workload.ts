import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  daemonSets,
  deployments,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims, persistentVolumes } from '@cofferdam/kubernetes/api/storage.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { osdOf } from '../../capabilities/ceph-drain/view/storage-budget.ts'
import { readLonghorn } from '../../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { explainPodsOf, type PodsExplanation } from '../../explain/explain-pods-of.ts'
import { explainVolume, type VolumeExplanation } from '../../explain/explain-volume.ts'
import type { Reader } from '../../observe/reader.ts'
import { observePodGuards } from '../observe/observe-guards.ts'
import { answered } from './answered.ts'
import type { WorkloadKind } from './explain-subject.ts'
import { explainNamedOsd } from './explain-update.ts'
import { findObject } from './find-object.ts'
import type { Explained } from './question.ts'

const types: Readonly<Record<WorkloadKind, ResourceType>> = {
  deployment: deployments,
  statefulset: statefulSets,
  daemonset: daemonSets,
  replicaset: replicaSets,
}

/** By its pods; the Deployment of an OSD is answered as that OSD. */
export async function explainNamedWorkload(
  { kind, ...key }: Required<ObjectKey> & { readonly kind: WorkloadKind },
  read: Reader,
): Promise<Explained> {
  const { namespace, name } = key
  const workload = await findObject(types[kind], key, read)
  const object = `${kind}/${namespace}/${name}`
  const osd = osdOf(workload)
  if (kind === 'deployment' && osd !== undefined) return explainNamedOsd({ namespace, osd, object }, read)
  const ownPods = await podsOwnedBy(workload, kind, read)
  const explanation = await explainPods(
    { namespace, object, ownPods, noPods: 'It has no pod, so there is nothing to evict.' },
    read,
  )
  return answered({ kind, ...explanation }, read)
}

export async function explainNamedClaim(key: Required<ObjectKey>, read: Reader): Promise<Explained> {
  const { api, signal, notSeen } = read
  const { namespace, name } = key
  const [claim, all] = await Promise.all([
    findObject(persistentVolumeClaims, key, read),
    api.list(pods, { namespace, signal }),
  ])
  const ownPods = all.items.filter(({ spec }) =>
    spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
  )
  const asked = {
    namespace,
    object: `pvc/${namespace}/${name}`,
    ownPods,
    noPods: 'No pod uses it, so there is nothing to evict.',
  }
  const volume = claim.spec?.volumeName
  const [explanation, longhornVolume, bound] = await Promise.all([
    explainPods(asked, read),
    volume === undefined ? undefined : explainLonghornVolume(volume, read),
    volume === undefined
      ? undefined
      : ifAllowed(`persistentvolumes/${volume}`, notSeen, () =>
          api.get(persistentVolumes, { name: volume }, { signal }),
        ),
  ])
  const driver = bound?.spec?.csi?.driver
  return answered(
    {
      kind: 'pvc',
      ...explanation,
      ...(volume === undefined ? {} : { volume }),
      ...(driver === undefined ? {} : { driver }),
      ...(longhornVolume === undefined ? {} : { longhornVolume }),
    },
    read,
  )
}

/** Undefined where Longhorn has no volume of this name, or is not there. */
export async function explainLonghornVolume(name: string, read: Reader): Promise<VolumeExplanation | undefined> {
  const view = await readLonghorn(read)
  if (view === undefined) return undefined
  const replicas = view.snapshot.replicas.filter((each) => each.volume === name)
  const attachedTo = view.snapshot.volumes.find((each) => each.name === name)?.attachedTo
  const places = new Set([...replicas.map(({ node }) => node), attachedTo ?? ''])
  places.delete('')
  const lists = await Promise.all(
    [...places].map((node) => read.api.list(pods, { fieldSelector: `spec.nodeName=${node}`, signal: read.signal })),
  )
  return explainVolume(view, { name, pods: lists.flatMap(({ items }) => items) })
}

async function explainPods(
  asked: {
    readonly namespace: string
    readonly object: string
    readonly ownPods: readonly Pod[]
    readonly noPods: string
  },
  read: Reader,
): Promise<PodsExplanation> {
  const { api, signal } = read
  const budgets = await api.list(podDisruptionBudgets, { namespace: asked.namespace, signal })
  return explainPodsOf(await observePodGuards(asked.ownPods, budgets.items, read), asked)
}

/** Those that its controller made; a Deployment's through its ReplicaSets. */
async function podsOwnedBy(workload: KubeObject, kind: WorkloadKind, { api, signal }: Reader): Promise<Pod[]> {
  const { namespace = '', uid } = workload.metadata
  const [all, sets] = await Promise.all([
    api.list(pods, { namespace, signal }),
    kind === 'deployment' ? api.list(replicaSets, { namespace, signal }) : undefined,
  ])
  const owners = new Set(
    sets === undefined
      ? [uid]
      : sets.items.filter((set) => controllerOf(set)?.uid === uid).map(({ metadata }) => metadata.uid),
  )
  return all.items.filter((pod) => owners.has(controllerOf(pod)?.uid))
}
