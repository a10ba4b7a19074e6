import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod, PodTemplateSpec, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { isNodeChosen } from '@cofferdam/kubernetes/api/node-affinity.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { daemonSets, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, openTools, workloadLagMs, writeStatus } from '../actor.ts'
import { isTolerated, namedNodes, untoleratedTaint } from '../nodes/scheduling-rules.ts'
import { availableInMs, byAge, isAvailable, isFinished, isReady, isTerminating } from '../pod-facts.ts'
import { controllerRevisions, dropOldRevisions, ensureRevision } from './controller-revisions.ts'
import { claimPods, indexByController, wakeOwners } from './owned-pods.ts'
import { buildPod, createOwnedPod, deleteOwnedPod, withoutZeros } from './pod-control.ts'

const hashLabel = 'controller-revision-hash'

/** What a DaemonSet wants on one node: a pod, no new pod but the old one may stay, or none. */
export type DaemonPlace = 'run' | 'stay' | 'none'

export function daemonPlace(set: DaemonSet, node: Node): DaemonPlace {
  const { spec } = set.spec.template
  if (spec.nodeName !== undefined && spec.nodeName !== node.metadata.name) return 'none'
  if (!isNodeChosen(node, spec)) return 'none'
  const tolerations = withDaemonTolerations(set.spec.template).spec.tolerations
  if (untoleratedTaint(node, tolerations) === undefined) return 'run'
  const pushesOut = (node.spec?.taints ?? []).some(
    (taint) => taint.effect === 'NoExecute' && !isTolerated(taint, tolerations),
  )
  return pushesOut ? 'none' : 'stay'
}

const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
]

const networkToleration: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
}

const tolerant = new WeakMap<PodTemplateSpec, PodTemplateSpec>()

/** Daemons stay where ordinary pods have to leave: on nodes that are cordoned, out of reach or short of something. */
function withDaemonTolerations(template: PodTemplateSpec): PodTemplateSpec {
  let result = tolerant.get(template)
  if (result === undefined) {
    const isOnHostNetwork = (template.spec as { hostNetwork?: boolean }).hostNetwork === true
    const added = isOnHostNetwork ? [...daemonTolerations, networkToleration] : daemonTolerations
    const own = (template.spec.tolerations ?? []).filter(
      (held) => !added.some(({ key, effect }) => held.key === key && held.effect === effect),
    )
    result = { ...template, spec: { ...template.spec, tolerations: [...own, ...added] } }
    tolerant.set(template, result)
  }
  return result
}

function buildDaemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const pod = buildPod({ owner: set, type: daemonSets, template: withDaemonTolerations(set.spec.template) })
  const required = {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [node] }] }],
  }
  const { affinity } = pod.spec
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [hashLabel]: hash } },
    spec: {
      ...pod.spec,
      affinity: {
        ...affinity,
        nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
      },
    },
  }
}

/** Keeps one pod of each DaemonSet on each node that it chooses, cordoned ones included. */
export function startDaemonSets(ports: ActorPorts): Actor {
  const tools = openTools('daemonset-controller', ports)
  const sets = tools.views.of(daemonSets)
  const nodeView = tools.views.of(nodes)
  const podView = tools.views.of(pods)
  const podsOf = indexByController(podView)
  const needs = [sets, nodeView, podView, tools.views.of(controllerRevisions)]
  const queue = tools.queue({ needs, work: reconcile, delayMs: workloadLagMs })

  async function reconcile(key: string): Promise<void> {
    const set = sets.get(key)
    if (set === undefined) return
    const owned = await claimPods({ tools, owner: set, type: daemonSets })
    const revision = await ensureRevision(tools, set, { type: daemonSets, hashLabel })
    const hash = revision.metadata.labels?.[hashLabel] as string
    if (!isTerminating(set)) {
      await reachNodes(set, owned, hash)
      if (set.spec.updateStrategy?.type !== 'OnDelete') await updatePods(set, hash)
    }
    await reportStatus(set, hash)
    const used = new Set([...podsOf(uidOf(set))].map((pod) => pod.metadata.labels?.[hashLabel]))
    await dropOldRevisions(tools, set, (held) => held === revision || used.has(held.metadata.labels?.[hashLabel]))
  }

  async function reachNodes(set: DaemonSet, owned: readonly Pod[], hash: string): Promise<void> {
    const onNode = groupByNode(owned)
    for (const node of nodeView.values()) {
      const { name } = node.metadata
      const held = onNode.get(name) ?? []
      onNode.delete(name)
      const place = daemonPlace(set, node)
      if (place === 'run' && held.length === 0) await createOwnedPod(tools, set, buildDaemonPod(set, name, hash))
      else if (place === 'none') await deleteAll(set, held)
      else await deleteAll(set, superfluous(held))
    }
    // What is left was made for nodes that have gone; pods that are bound there are for the pod collector.
    for (const held of onNode.values())
      await deleteAll(
        set,
        held.filter((pod) => pod.spec.nodeName === undefined),
      )
  }

  /** Finished pods, which make room for new ones, and all but the oldest of several. */
  function superfluous(held: readonly Pod[]): Pod[] {
    const living = held.filter((pod) => !isTerminating(pod))
    const running = living.filter((pod) => !isFinished(pod)).sort(byAge)
    return [...living.filter(isFinished), ...running.slice(1)]
  }

  async function deleteAll(set: DaemonSet, held: readonly Pod[]): Promise<void> {
    for (const pod of held) if (!isTerminating(pod)) await deleteOwnedPod(tools, set, pod)
  }

  /** Replaces pods of an older template, as many at a time as may be unavailable. */
  async function updatePods(set: DaemonSet, hash: string): Promise<void> {
    const { minReadySeconds = 0 } = set.spec
    const onNode = groupByNode([...podsOf(uidOf(set))])
    const wanting = [...nodeView.values()].filter((node) => daemonPlace(set, node) === 'run')
    const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {}
    let mayGo = Math.max(1, scaledValue(maxUnavailable, wanting.length))
    const replaceable: Pod[] = []
    for (const node of wanting) {
      const living = (onNode.get(node.metadata.name) ?? []).filter((pod) => !isTerminating(pod))
      const serving = living.some((pod) => isAvailable(pod, minReadySeconds, tools.clock.now()))
      const outdated = living.filter((pod) => pod.metadata.labels?.[hashLabel] !== hash)
      if (!serving) mayGo -= 1
      // What does not serve anyway costs nothing to replace.
      if (!serving) await deleteAll(set, outdated)
      else replaceable.push(...outdated)
    }
    for (const pod of replaceable.slice(0, Math.max(0, mayGo))) await deleteOwnedPod(tools, set, pod)
  }

  async function reportStatus(set: DaemonSet, hash: string): Promise<void> {
    const onNode = groupByNode([...podsOf(uidOf(set))])
    const { minReadySeconds = 0 } = set.spec
    const nowMs = tools.clock.now()
    const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 }
    let soonest = Number.POSITIVE_INFINITY
    for (const node of nodeView.values()) {
      const pod = onNode.get(node.metadata.name)?.sort(byAge)[0]
      if (daemonPlace(set, node) !== 'run') {
        if (pod !== undefined) counts.misscheduled += 1
        continue
      }
      counts.desired += 1
      if (pod === undefined) continue
      counts.current += 1
      if (isReady(pod)) counts.ready += 1
      const wait = availableInMs(pod, minReadySeconds, nowMs)
      if (wait === 0) counts.available += 1
      else if (wait !== undefined) soonest = Math.min(soonest, wait)
      if (pod.metadata.labels?.[hashLabel] === hash) counts.updated += 1
    }
    const status = {
      currentNumberScheduled: counts.current,
      desiredNumberScheduled: counts.desired,
      numberMisscheduled: counts.misscheduled,
      numberReady: counts.ready,
      ...withoutZeros({
        observedGeneration: set.metadata.generation ?? 0,
        updatedNumberScheduled: counts.updated,
        numberAvailable: counts.available,
        numberUnavailable: counts.desired - counts.available,
      }),
    }
    if (Number.isFinite(soonest)) queue.addAfter(keyText(keyOf(set)), soonest)
    if (!isSameJson(status, set.status)) await writeStatus(tools, daemonSets, set, status)
  }

  tools.onStop(sets.subscribe(({ key }) => queue.add(key)))
  tools.onStop(
    nodeView.subscribe(({ before, after }) => {
      const isOfNoMatter =
        before !== undefined &&
        after !== undefined &&
        isSameJson(before.spec?.taints, after.spec?.taints) &&
        isSameJson(before.metadata.labels, after.metadata.labels)
      if (!isOfNoMatter) for (const set of sets.values()) queue.add(keyText(keyOf(set)))
    }),
  )
  wakeOwners({ tools, owned: podView, type: daemonSets, queue })
  return { stop: tools.stop }
}

/** Pods by the node they are on or, before they are placed, by the node they were made for. */
function groupByNode(all: readonly Pod[]): Map<string, Pod[]> {
  const groups = new Map<string, Pod[]>()
  for (const pod of all) {
    const node = pod.spec.nodeName ?? namedNodes(pod.spec)?.[0] ?? ''
    const group = groups.get(node)
    if (group === undefined) groups.set(node, [pod])
    else group.push(pod)
  }
  return groups
}

function uidOf(set: DaemonSet): string {
  return set.metadata.uid as string
}
