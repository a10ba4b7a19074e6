import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isFollowingOsds } from '../../capabilities/ceph-drain/view/daemon-budget.ts'
import { skipDrainAnnotation } from '../../capabilities/drain-lock/observe/objects.ts'
import { type LonghornObjects, suggestLonghorn } from './suggest-longhorn.ts'
import type { Choice, Suggestion } from './suggestion.ts'

interface GuardedWorkload {
  readonly budget: string
  readonly isStateful: boolean
  /** Its pods ask to stay while their node reboots. */
  readonly isStaying: boolean
  readonly isStorage: boolean
  readonly hasRoom: boolean
  /** The nodes its pods are on, by name. */
  readonly places: readonly string[]
}

/** Three things worth trying on this very cluster, with its own names, and one more where there is Longhorn. */
export function suggestCommands(cluster: {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  readonly budgets: readonly PodDisruptionBudget[]
  /** Undefined: there is none. */
  readonly longhorn?: LonghornObjects | undefined
  /** How this program is called. */
  readonly calledAs: string
}): Suggestion[] {
  const { calledAs } = cluster
  const guarded = cluster.budgets
    // Longhorn's say nothing about workloads: those of its instance managers never give, and are taken away instead.
    .filter(({ metadata }) => metadata.namespace !== cluster.longhorn?.namespace)
    // Mons and mgrs follow the OSDs of their node: their budget keeps no node from being drained.
    .filter((budget) => !isFollowingOsds(budget, []))
    .map((budget) => guardedWorkload(budget, cluster.pods))
    .filter(({ places }) => places.length > 0)
  const stuck = guarded.filter(({ hasRoom }) => !hasRoom)
  const isFree = (node: string) => !stuck.some(({ places }) => places.includes(node))
  const things = [
    ...suggestDrain(guarded, { isFree, nodes: cluster.nodes, calledAs }),
    ...suggestLock(guarded, { isFree, calledAs }),
    ...(suggestStorage(cluster.pods.filter((pod) => isFree(pod.spec.nodeName ?? ''))) ??
      suggestRefusal(guarded, stuck[0])),
  ]
  const moving = cluster.longhorn === undefined ? [] : suggestLonghorn(cluster.longhorn, { isFree, calledAs })
  const showPods = { says: 'See who runs where', lines: ['kubectl get pods -A -o wide'] }
  return [...(things.length < 3 ? [showPods] : []), ...things, ...moving]
}

function suggestDrain(
  guarded: readonly GuardedWorkload[],
  { isFree, nodes, calledAs }: Choice & { readonly nodes: readonly Node[] },
): Suggestion[] {
  const staying = guarded.find(({ isStaying, places }) => isStaying && places.some(isFree))
  const places = staying?.places ?? guarded.flatMap((each) => each.places)
  const node = places.find(isFree) ?? nodes.map(({ metadata }) => metadata.name).find(isFree)
  if (node === undefined) return []
  const says =
    staying === undefined
      ? 'Take a node out, and watch its pods move'
      : `Take a node out for a reboot: the pod of ${staying.budget} stays, and its budget counts it as gone; the others move`
  return [{ says, lines: [`${calledAs} drain ${node}`, `${calledAs} uncordon ${node}`] }]
}

/** The lock of an owner, and a drain that it keeps waiting. */
function suggestLock(guarded: readonly GuardedWorkload[], { isFree, calledAs }: Choice): Suggestion[] {
  const lockable = guarded.filter(({ isStorage, places }) => !isStorage && places.some(isFree))
  const preferred = lockable.find(({ isStateful, isStaying }) => isStateful && !isStaying)
  const chosen = preferred ?? lockable.find(({ isStaying }) => !isStaying) ?? lockable[0]
  const node = chosen?.places.find(isFree)
  if (chosen === undefined || node === undefined) return []
  const { budget } = chosen
  return [
    {
      says: `Lock ${budget}, as its owner would: every drain shows who, why and until when`,
      lines: [
        `${calledAs} lock pdb/${budget} --for 10m --reason rebalancing`,
        `kubectl drain ${node} --ignore-daemonsets --timeout=20s`,
        `${calledAs} unlock pdb/${budget}`,
        `kubectl uncordon ${node}`,
      ],
    },
  ]
}

/**
 * Nodes with OSDs in two failure domains: the first drain ends, the second waits for the first node to come back.
 * Undefined where there are none.
 */
function suggestStorage(pods: readonly Pod[]): Suggestion[] | undefined {
  const osds = pods
    .filter(({ metadata, spec }) => metadata.labels?.['app'] === 'rook-ceph-osd' && spec.nodeName !== undefined)
    .sort((a, b) => Number(a.metadata.labels?.['osd']) - Number(b.metadata.labels?.['osd']))
  const zoneOf = (pod: Pod) => pod.metadata.labels?.['topology-location-zone']
  const [first] = osds
  const second = osds.find((pod) => first !== undefined && zoneOf(pod) !== zoneOf(first))
  if (first === undefined || second === undefined) return undefined
  const [one, other] = [first.spec.nodeName, second.spec.nodeName]
  return [
    {
      says: `Drain storage in two zones: once ${one} is drained, blocking budgets keep ${other} until ${one} is back`,
      lines: [
        `kubectl drain ${one} --ignore-daemonsets`,
        `kubectl -n ${first.metadata.namespace} get pdb`,
        `kubectl drain ${other} --ignore-daemonsets --timeout=20s`,
        `kubectl uncordon ${one} ${other}`,
      ],
    },
  ]
}

/** A drain that a budget holds up: for ever where it never gives, else for as long as another pod is restarting. */
function suggestRefusal(guarded: readonly GuardedWorkload[], stuck: GuardedWorkload | undefined): Suggestion[] {
  if (stuck !== undefined) {
    const says = `Drain a node and be refused: budget ${stuck.budget} allows no eviction, and the drain gives up`
    return [drain(says, stuck.places[0] as string, ' --timeout=20s')]
  }
  // A StatefulSet replaces a pod only when the old one is gone, so there the second eviction surely has to wait.
  const pairs = guarded.filter(({ places }) => places.length > 1)
  const pair = pairs.find(({ isStateful }) => isStateful) ?? pairs[0]
  if (pair === undefined) return []
  const says = `Drain two nodes that share a workload: budget ${pair.budget} makes the second wait`
  return [drain(says, pair.places.slice(0, 2).join(' '))]
}

function drain(says: string, nodes: string, more = ''): Suggestion {
  return { says, lines: [`kubectl drain ${nodes} --ignore-daemonsets${more}`, `kubectl uncordon ${nodes}`] }
}

function guardedWorkload({ metadata, spec, status }: PodDisruptionBudget, pods: readonly Pod[]): GuardedWorkload {
  const { selector } = spec
  const covered = pods.filter(
    (pod) =>
      selector !== undefined &&
      pod.metadata.namespace === metadata.namespace &&
      pod.spec.nodeName !== undefined &&
      isSelected(selector, pod.metadata.labels),
  )
  return {
    budget: `${metadata.namespace}/${metadata.name}`,
    isStateful: covered.some((pod) => controllerOf(pod)?.kind === 'StatefulSet'),
    isStaying: covered.some((pod) => pod.metadata.annotations?.[skipDrainAnnotation] === 'true'),
    isStorage: covered.some((pod) => pod.metadata.labels?.['app']?.startsWith('rook-ceph') === true),
    hasRoom: (status?.disruptionsAllowed ?? 0) > 0,
    places: [...new Set(covered.map((pod) => pod.spec.nodeName as string))].sort(),
  }
}
