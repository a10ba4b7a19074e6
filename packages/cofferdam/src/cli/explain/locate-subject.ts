import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import { longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { clusterApiMachines, openshiftMachines } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  daemonSets,
  deployments,
  nodes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { AskedSubject, SubjectKind, WorkloadKind } from './explain-subject.ts'

type NamespacedKind = 'pod' | 'pdb' | 'pvc' | 'machine' | 'cephcluster' | 'osd' | WorkloadKind

/** What is to be explained, fully named. */
export type Subject =
  | { readonly kind: 'node' | 'nodedisruption' | 'volume'; readonly name: string }
  | { readonly kind: 'zone'; readonly name: string; readonly domainType: string }
  /** For an OSD the name is its id. */
  | { readonly kind: NamespacedKind; readonly namespace: string; readonly name: string }

export interface Directory {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly signal: AbortSignal
  /** What may not be read is noted here. */
  readonly notSeen: string[]
  /** Where the kubeconfig is. */
  readonly namespace: string
}

/** The kinds that people keep in namespaces of their own: kubectl looks for them in the current one. */
const owned: Readonly<Record<Exclude<NamespacedKind, 'machine' | 'cephcluster' | 'osd'>, ResourceType>> = {
  pod: pods,
  statefulset: statefulSets,
  deployment: deployments,
  daemonset: daemonSets,
  replicaset: replicaSets,
  pdb: podDisruptionBudgets,
  pvc: persistentVolumeClaims,
}

/** Which of them a name alone may mean, besides a node. */
const byName: readonly (readonly [SubjectKind, readonly ResourceType[]])[] = [
  ...(['pod', 'statefulset', 'deployment', 'daemonset', 'pdb', 'pvc'] as const).map(
    (kind) => [kind, [owned[kind]]] as const,
  ),
  ['nodedisruption', [nodeDisruptions]],
  ['volume', [longhornVolumes]],
  ['machine', [openshiftMachines, clusterApiMachines]],
  ['cephcluster', [cephClusters]],
]

/**
 * Fills in what was not said: a namespace, or the kind of a bare name.
 *
 * @throws CofferdamError OBJECT_NOT_FOUND, or USAGE where several things answer to the words
 */
export async function locateSubject(asked: AskedSubject, directory: Directory): Promise<Subject> {
  const { kind, name, namespace } = asked
  if (kind === undefined) return locateByName(asked, directory)
  if (kind === 'node' || kind === 'nodedisruption' || kind === 'volume') return { kind, name }
  if (kind === 'zone') return { kind, name, domainType: asked.domainType ?? kind }
  if (namespace !== undefined) return { kind, namespace, name }
  if (kind === 'machine')
    return { kind, name, namespace: await onlyPlace(asked, [openshiftMachines, clusterApiMachines], directory) }
  if (kind === 'cephcluster') return { kind, name, namespace: await onlyPlace(asked, [cephClusters], directory) }
  if (kind === 'osd') return { kind, name, namespace: await placeOfOsd(asked, directory) }
  const here = directory.namespace
  if (await exists(owned[kind], { namespace: here, name }, directory)) return { kind, namespace: here, name }
  const elsewhere = await placesOf([owned[kind]], name, directory)
  return { kind, name, namespace: elsewhere.length === 0 ? here : oneOf(asked, elsewhere) }
}

async function locateByName({ name, namespace }: AskedSubject, directory: Directory): Promise<Subject> {
  if (await exists(nodes, { name }, directory)) return { kind: 'node', name }
  const found = await Promise.all(
    byName.map(async ([kind, types]) =>
      (await placesOf(types, name, directory))
        .filter((place) => namespace === undefined || place === '' || place === namespace)
        .map(
          (place): Subject =>
            place === '' ? ({ kind, name } as Subject) : ({ kind, namespace: place, name } as Subject),
        ),
    ),
  )
  const all = found.flat()
  const [first] = all
  if (first !== undefined && all.length === 1) return first
  if (first !== undefined) {
    throw new CofferdamError('USAGE', `${all.length} objects are called ${name}`, {
      hint: all.map((each) => `cofferdam explain ${textOf(each)}`).join('; '),
    })
  }
  const { items } = await directory.api.list(nodes, { signal: directory.signal })
  const closest = closestName(
    name,
    items.map(({ metadata }) => metadata.name),
  )
  throw new CofferdamError(
    'OBJECT_NOT_FOUND',
    `nothing is called ${name}: no node, pod, workload, budget, claim or request`,
    {
      facts: { kind: 'Node', object: name },
      hint: closest === undefined ? 'kubectl get nodes shows those there are' : `did you mean node ${closest}?`,
    },
  )
}

function textOf(subject: Subject): string {
  return 'namespace' in subject
    ? `${subject.kind}/${subject.namespace}/${subject.name}`
    : `${subject.kind}/${subject.name}`
}

async function exists(
  type: ResourceType,
  key: { readonly namespace?: string; readonly name: string },
  { api, signal }: Directory,
): Promise<boolean> {
  try {
    await api.get(type, key, { signal })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false
    // Whoever may not read it here is told so when it is read.
    if (hasReason(error, 'Forbidden')) return true
    throw error
  }
}

/** Namespaces with an object of this name; '' for kinds without namespaces. What may not be listed has none. */
async function placesOf(types: readonly ResourceType[], name: string, directory: Directory): Promise<string[]> {
  const { api, signal } = directory
  const lists = await Promise.all(
    types.map((type) =>
      ifAllowed<{ readonly items: readonly KubeObject[] }>(type.plural, [], () =>
        api.list(type, { fieldSelector: `metadata.name=${name}`, signal }),
      ),
    ),
  )
  return lists.flatMap((list) => list?.items ?? []).map(({ metadata }) => metadata.namespace ?? '')
}

async function onlyPlace(asked: AskedSubject, types: readonly ResourceType[], directory: Directory): Promise<string> {
  const places = await placesOf(types, asked.name, directory)
  return places.length === 0 ? directory.namespace : oneOf(asked, places)
}

async function placeOfOsd(asked: AskedSubject, directory: Directory): Promise<string> {
  const { api, signal, notSeen } = directory
  const labelSelector = `app=rook-ceph-osd,ceph-osd-id=${asked.name}`
  const found = await ifAllowed('deployments of OSDs', notSeen, () => api.list(deployments, { labelSelector, signal }))
  const places = (found?.items ?? []).map(({ metadata }) => metadata.namespace ?? '')
  if (places.length > 0) return oneOf(asked, places)
  const clusters = await ifAllowed('cephclusters', notSeen, () => api.list(cephClusters, { signal }))
  const [first, ...more] = (clusters?.items ?? []).map(({ metadata }) => metadata.namespace ?? '')
  if (first !== undefined) return more.length === 0 ? first : oneOf(asked, [first, ...more])
  throw new CofferdamError(
    'OBJECT_NOT_FOUND',
    `there is no OSD ${asked.name}: no CephCluster is seen in this cluster`,
    {
      facts: { kind: 'OSD', object: asked.name },
      hint: `with the namespace: cofferdam explain osd/NAMESPACE/${asked.name}`,
    },
  )
}

/** @throws CofferdamError USAGE that names all forms */
function oneOf({ kind, name }: AskedSubject, places: readonly string[]): string {
  const different = [...new Set(places)]
  const [first = ''] = different
  if (different.length === 1) return first
  throw new CofferdamError('USAGE', `${kind}/${name} is in ${different.length} namespaces`, {
    hint: different.map((place) => `cofferdam explain ${kind}/${place}/${name}`).join('; '),
  })
}
