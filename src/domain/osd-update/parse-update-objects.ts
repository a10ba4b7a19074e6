import type { Deployment } from '../../api/apps.ts'
import type { Pod } from '../../api/core.ts'
import { conditionOf } from '../../api/kube-object.ts'
import type { CephCluster } from '../../api/rook.ts'
import { parseRfc3339 } from '../ceph-drain/timestamp.ts'
import { needsUpdate, osdImage } from './osd-deployment.ts'
import type { UpdatableOsd } from './snapshot.ts'
import { parseUpdateMark } from './update-mark.ts'

const doNotReconcile = 'ceph.rook.io/do-not-reconcile'
const replaceInProgress = 'osd.rook.io/replace-in-progress'

export interface UpdateObjects {
  readonly deployments: readonly Deployment[]
  readonly pods: readonly Pod[]
  readonly cluster: CephCluster
  /** Beside Rook, which writes the Deployments: since when older pods are to be restarted; undefined when nobody asked. */
  readonly besideRook?: { readonly restartAskedMs: number | undefined }
}

export interface ParsedUpdateObjects {
  /** In the order of their ids. */
  readonly osds: readonly UpdatableOsd[]
  /** Deployments that are called OSDs and do not say which. */
  readonly problems: readonly { readonly object: string; readonly problem: string }[]
  /** Whether another image is wanted than some OSD has. */
  readonly isUpgrade: boolean
}

/**
 * The OSDs of one cluster from their Deployments and pods; what belongs to others is passed over.
 *
 * Guarantees: a Deployment that cannot be understood is a problem of its own and of no other.
 */
export function parseUpdateObjects(input: UpdateObjects): ParsedUpdateObjects {
  const { cluster } = input
  const { namespace } = cluster.metadata
  const own = input.deployments.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === 'rook-ceph-osd',
  )
  const podsById = new Map<string, Pod[]>()
  for (const pod of input.pods) {
    const id = idLabel(pod.metadata.labels)
    if (id === undefined || pod.metadata.namespace !== namespace) continue
    const others = podsById.get(id)
    if (others === undefined) podsById.set(id, [pod])
    else others.push(pod)
  }
  const problems: { object: string; problem: string }[] = []
  const byId = new Map<number, UpdatableOsd>()
  let isUpgrade = false
  for (const deployment of own) {
    const text = idLabel(deployment.metadata.labels)
    if (text === undefined || !/^\d{1,9}$/.test(text)) {
      const problem =
        text === undefined ? 'has no label ceph-osd-id' : `its label ceph-osd-id ${JSON.stringify(text)} is no OSD`
      problems.push({ object: `deployment/${deployment.metadata.name}`, problem })
      continue
    }
    const osd = parseOne(deployment, podsById.get(text) ?? [], input)
    const twin = byId.get(osd.id)
    byId.set(osd.id, twin === undefined ? osd : bothBroken(twin, osd))
    const image = osdImage(deployment)
    if (osd.leftAlone === undefined && image !== undefined && image !== (cluster.spec?.cephVersion?.image ?? image)) {
      isUpgrade = true
    }
  }
  return { osds: [...byId.values()].sort((a, b) => a.id - b.id), problems, isUpgrade }
}

/** Ids of all OSDs that have a Deployment. */
export function existenceList(osds: readonly Pick<UpdatableOsd, 'id'>[]): ReadonlySet<number> {
  return new Set(osds.map(({ id }) => id))
}

function parseOne(deployment: Deployment, pods: readonly Pod[], input: UpdateObjects): UpdatableOsd {
  const { cluster, besideRook } = input
  const mark = parseUpdateMark(deployment)
  const problem =
    osdImage(deployment) === undefined
      ? 'its Deployment has no container named osd with an image'
      : 'problem' in mark
        ? mark.problem
        : undefined
  const leftAlone = whyLeftAlone(deployment, cluster)
  const startedMs = 'problem' in mark ? undefined : mark.startedMs
  const isObserved = (deployment.status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  return {
    id: Number(idLabel(deployment.metadata.labels)),
    deployment: deployment.metadata.name,
    needsUpdate:
      besideRook === undefined
        ? problem === undefined && needsUpdate(deployment, cluster)
        : pods.some((pod) => isOlder(pod, besideRook.restartAskedMs)),
    ...(leftAlone !== undefined && { leftAlone }),
    ...(problem !== undefined && { problem }),
    ...(startedMs !== undefined && { startedMs }),
    isPodReady: isObserved && isNewestReady(deployment) && (pods.length === 0 || pods.some(isServing)),
    hasStalled: isObserved && conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded',
  }
}

function bothBroken(one: UpdatableOsd, other: UpdatableOsd): UpdatableOsd {
  const [first, second] = [one.deployment, other.deployment].sort()
  const isPodReady = one.isPodReady && other.isPodReady
  return { ...one, isPodReady, problem: `both Deployments ${first} and ${second} say that they are this OSD` }
}

function whyLeftAlone({ metadata, spec }: Deployment, cluster: CephCluster): string | undefined {
  if (metadata.labels?.[doNotReconcile] !== undefined) return `its Deployment has the label ${doNotReconcile}`
  if (metadata.annotations?.[replaceInProgress] === 'true') return 'it is being replaced'
  const { useAllNodes, nodes } = cluster.spec?.storage ?? {}
  const node = spec.template.spec.nodeSelector?.['kubernetes.io/hostname']
  const isOnVolume = metadata.labels?.['ceph.rook.io/pvc'] !== undefined
  if (node === undefined || isOnVolume || useAllNodes === true || nodes === undefined) return undefined
  return nodes.some(({ name }) => name === node) ? undefined : `its node ${node} is no longer in spec.storage.nodes`
}

/** By the counts of the Deployment: none but pods of its newest template, and one of them ready. */
function isNewestReady({ status }: Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status ?? {}
  return readyReplicas >= 1 && updatedReplicas >= 1 && replicas <= updatedReplicas
}

function isServing(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
}

function isOlder({ metadata }: Pod, askedMs: number | undefined): boolean {
  if (askedMs === undefined || metadata.deletionTimestamp !== undefined) return false
  const createdMs = parseRfc3339(metadata.creationTimestamp ?? '')
  return createdMs === undefined || createdMs < askedMs
}

function idLabel(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  return labels?.['ceph-osd-id'] ?? labels?.['osd']
}
