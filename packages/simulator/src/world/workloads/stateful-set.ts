import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod, PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { type Actor, type ActorPorts, openTools, workloadLagMs, writeStatus } from '../actor.ts'
import { availableInMs, isAvailable, isFinished, isRunningAndReady, isTerminating } from '../pod-facts.ts'
import {
  type ControllerRevision,
  controllerRevisions,
  dropOldRevisions,
  ensureRevision,
  revisionsOf,
  templateOf,
} from './controller-revisions.ts'
import { claimPods, indexByController, wakeOwners } from './owned-pods.ts'
import { createOwnedPod, deleteOwnedPod, withoutZeros } from './pod-control.ts'
import { buildClaims, buildStatefulPod, firstOrdinal, ordinalOf, revisionLabel } from './stateful-set-pods.ts'

interface Revisions {
  readonly current: ControllerRevision
  readonly update: ControllerRevision
}

/** Keeps the numbered pods of StatefulSets, one after the other. */
export function startStatefulSets(ports: ActorPorts): Actor {
  const tools = openTools('statefulset-controller', ports)
  const sets = tools.views.of(statefulSets)
  const podView = tools.views.of(pods)
  const podsOf = indexByController(podView)
  const needs = [sets, podView, tools.views.of(controllerRevisions)]
  const queue = tools.queue({ needs, work: reconcile, delayMs: workloadLagMs })

  async function reconcile(key: string): Promise<void> {
    const set = sets.get(key)
    if (set === undefined) return
    const owned = await claimPods({ tools, owner: set, type: statefulSets })
    const update = await ensureRevision(tools, set, {
      type: statefulSets,
      hashLabel: 'controller.kubernetes.io/hash',
    })
    const named = revisionsOf(tools, set).find(({ metadata }) => metadata.name === set.status?.currentRevision)
    const revisions = { current: named ?? update, update }
    if (!isTerminating(set) && (await reachReplicas(set, owned, revisions)) === 'settled') {
      await updatePods(set, update)
    }
    await reportStatus(set, revisions)
    await dropOldRevisions(tools, set, (revision) => isInUse(set, revisions, revision))
  }

  function isInUse(set: StatefulSet, { current, update }: Revisions, revision: ControllerRevision): boolean {
    if (revision === current || revision === update) return true
    return [...podsOf(uidOf(set))].some((pod) => pod.metadata.labels?.[revisionLabel] === revision.metadata.name)
  }

  /** Creates and removes pods until their number is right; in order, unless the set says Parallel. */
  async function reachReplicas(
    set: StatefulSet,
    owned: readonly Pod[],
    revisions: Revisions,
  ): Promise<'settled' | 'waiting'> {
    const isOrdered = set.spec.podManagementPolicy !== 'Parallel'
    const first = firstOrdinal(set)
    const end = first + (set.spec.replicas ?? 1)
    const byOrdinal = new Map(owned.map((pod) => [ordinalOf(set, pod), pod]))
    for (let ordinal = first; ordinal < end; ordinal += 1) {
      const state = await reachPod(set, byOrdinal.get(ordinal), { ordinal, revisions })
      if (state === 'waiting' && isOrdered) return 'waiting'
    }
    const condemned = owned
      .map((pod) => ({ pod, ordinal: ordinalOf(set, pod) }))
      .filter(({ ordinal }) => ordinal !== undefined && (ordinal < first || ordinal >= end))
      .sort((a, b) => (b.ordinal as number) - (a.ordinal as number))
    for (const { pod } of condemned) {
      if (!isTerminating(pod)) await deleteOwnedPod(tools, set, pod)
      if (isOrdered) return 'waiting'
    }
    return 'settled'
  }

  async function reachPod(
    set: StatefulSet,
    pod: Pod | undefined,
    { ordinal, revisions }: { ordinal: number; revisions: Revisions },
  ): Promise<'settled' | 'waiting'> {
    if (pod === undefined) {
      await createStatefulPod(set, ordinal, revisions)
      return 'waiting'
    }
    if (isTerminating(pod)) return 'waiting'
    if (isFinished(pod)) {
      await deleteOwnedPod(tools, set, pod)
      return 'waiting'
    }
    if (!isRunningAndReady(pod)) return 'waiting'
    return isAvailable(pod, set.spec.minReadySeconds ?? 0, tools.clock.now()) ? 'settled' : 'waiting'
  }

  async function createStatefulPod(set: StatefulSet, ordinal: number, { current, update }: Revisions): Promise<void> {
    const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {}
    const isOnDelete = set.spec.updateStrategy?.type === 'OnDelete'
    // Below the partition a lost pod comes back as it was.
    const revision = !isOnDelete && ordinal < firstOrdinal(set) + partition ? current : update
    const template = templateOf(revision) as PodTemplateSpec
    for (const claim of buildClaims(set, ordinal)) {
      await tools.api.create(persistentVolumeClaims, claim).catch((error: unknown) => {
        if (!hasReason(error, 'AlreadyExists')) throw error
      })
    }
    const pod = buildStatefulPod(set, { template, revision: revision.metadata.name, ordinal })
    await createOwnedPod(tools, set, pod).catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) throw error
      // The name is still taken, by a pod that goes or by a stranger.
      queue.addAfter(keyText(keyOf(set)), 1_000)
    })
  }

  /** Replaces pods of another revision from the highest number down, within what may be unavailable. */
  async function updatePods(set: StatefulSet, update: ControllerRevision): Promise<void> {
    if (set.spec.updateStrategy?.type === 'OnDelete') return
    const { partition = 0, maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {}
    const lowest = firstOrdinal(set) + partition
    const all = [...podsOf(uidOf(set))]
    const nowMs = tools.clock.now()
    const away = all.filter((pod) => isTerminating(pod) || !isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs))
    let mayGo = Math.max(1, scaledValue(maxUnavailable, set.spec.replicas ?? 1, 'down')) - away.length
    const outdated = all
      .filter((pod) => pod.metadata.labels?.[revisionLabel] !== update.metadata.name && !isTerminating(pod))
      .map((pod) => ({ pod, ordinal: ordinalOf(set, pod) ?? -1 }))
      .filter(({ ordinal }) => ordinal >= lowest)
      .sort((a, b) => b.ordinal - a.ordinal)
    for (const { pod } of outdated) {
      if (mayGo <= 0) return
      await deleteOwnedPod(tools, set, pod)
      mayGo -= 1
    }
  }

  async function reportStatus(set: StatefulSet, { current, update }: Revisions): Promise<void> {
    const all = [...podsOf(uidOf(set))]
    const living = all.filter((pod) => !isTerminating(pod))
    const { minReadySeconds = 0 } = set.spec
    const nowMs = tools.clock.now()
    const ready = all.filter(isRunningAndReady)
    const waits = ready.map((pod) => availableInMs(pod, minReadySeconds, nowMs) ?? 0)
    const counted = {
      replicas: all.length,
      readyReplicas: ready.length,
      availableReplicas: waits.filter((wait) => wait === 0).length,
      updatedReplicas: living.filter((pod) => pod.metadata.labels?.[revisionLabel] === update.metadata.name).length,
      currentReplicas: living.filter((pod) => pod.metadata.labels?.[revisionLabel] === current.metadata.name).length,
    }
    const isRolledOut =
      set.spec.updateStrategy?.type !== 'OnDelete' &&
      counted.updatedReplicas === counted.replicas &&
      counted.readyReplicas === counted.replicas &&
      counted.replicas === (set.spec.replicas ?? 1)
    const status = {
      replicas: counted.replicas,
      // The real server always writes availableReplicas out.
      availableReplicas: counted.availableReplicas,
      ...withoutZeros({
        observedGeneration: set.metadata.generation ?? 0,
        readyReplicas: counted.readyReplicas,
        currentReplicas: isRolledOut ? counted.updatedReplicas : counted.currentReplicas,
        updatedReplicas: counted.updatedReplicas,
      }),
      currentRevision: isRolledOut ? update.metadata.name : current.metadata.name,
      updateRevision: update.metadata.name,
      collisionCount: 0,
    }
    const soonest = Math.min(...waits.filter((wait) => wait > 0))
    if (Number.isFinite(soonest)) queue.addAfter(keyText(keyOf(set)), soonest)
    if (!isSameJson(status, set.status)) await writeStatus(tools, statefulSets, set, status)
  }

  tools.onStop(sets.subscribe(({ key }) => queue.add(key)))
  wakeOwners({ tools, owned: podView, type: statefulSets, queue })
  return { stop: tools.stop }
}

function uidOf(set: StatefulSet): string {
  return set.metadata.uid as string
}
