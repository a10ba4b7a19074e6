import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment, ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments, pods, replicaSets } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, deleteExactly, openTools, workloadLagMs, writeStatus } from '../actor.ts'
import { byAge, isFinished, isTerminating } from '../pod-facts.ts'
import {
  annotationsForCurrent,
  buildReplicaSet,
  findCurrent,
  nextRevision,
  revisionAnnotation,
  revisionOf,
} from './deployment-revisions.ts'
import {
  activeSets,
  decideOldSizes,
  decideSharedSizes,
  desiredReplicasAnnotation,
  isRolling,
  isScaling,
  maxReplicasAnnotation,
  nextSizeOfCurrent,
  type ReplicaSetsOfDeployment,
  rolloutMargins,
  type ScaleStep,
  wantedReplicas,
} from './deployment-rollout.ts'
import {
  countReplicas,
  type DeploymentCondition,
  type DeploymentStatus,
  deadlineSeconds,
  decideProgress,
  isComplete,
  type Progress,
  withDeploymentCondition,
} from './deployment-status.ts'
import { claimObjects, indexByController, wakeOwners } from './owned-pods.ts'

/** Rolls Deployments from one template to the next, by ReplicaSets. */
export function startDeployments(ports: ActorPorts): Actor {
  const tools = openTools('deployment-controller', ports)
  const view = tools.views.of(deployments)
  const setView = tools.views.of(replicaSets)
  const podView = tools.views.of(pods)
  const podsOf = indexByController(podView)
  const queue = tools.queue({ needs: [view, setView, podView], work: reconcile, delayMs: workloadLagMs })

  async function reconcile(key: string): Promise<void> {
    const deployment = view.get(key)
    if (deployment === undefined) return
    const owned = await claimObjects({ tools, owned: replicaSets, owner: deployment, type: deployments })
    if (isTerminating(deployment)) return reportStatus(deployment, split(deployment, owned))
    const paused = await reportPause(deployment)
    if (paused !== deployment) return
    const sets = split(deployment, owned)
    if (deployment.spec.paused === true || isScaling(deployment, sets)) {
      await scaleAll(deployment, decideSharedSizes(deployment, sets))
      return reportStatus(deployment, refreshed(sets))
    }
    return isRolling(deployment) ? roll(deployment, sets) : recreate(deployment, sets)
  }

  async function roll(deployment: Deployment, found: ReplicaSetsOfDeployment): Promise<void> {
    const sets = { ...found, current: await ensureCurrent(deployment, found) }
    const up = nextSizeOfCurrent(deployment, sets)
    const steps =
      up === wantedReplicas(sets.current)
        ? decideOldSizes(deployment, sets)
        : [{ set: sets.current, replicas: up } satisfies ScaleStep]
    await scaleAll(deployment, steps)
    if (steps.length === 0 && isComplete(deployment, deployment.status ?? {})) await dropHistory(deployment, sets)
    return reportStatus(deployment, refreshed(sets))
  }

  async function recreate(deployment: Deployment, found: ReplicaSetsOfDeployment): Promise<void> {
    const down = activeSets(found.old).map((set) => ({ set, replicas: 0 }))
    await scaleAll(deployment, down)
    if (down.length > 0 || hasPods(found.old)) return reportStatus(deployment, refreshed(found))
    const sets = { ...found, current: await ensureCurrent(deployment, found) }
    await scaleAll(deployment, [{ set: sets.current, replicas: wantedReplicas(deployment) }])
    if (isComplete(deployment, deployment.status ?? {})) await dropHistory(deployment, sets)
    return reportStatus(deployment, refreshed(sets))
  }

  function hasPods(sets: readonly ReplicaSet[]): boolean {
    return sets.some((set) => [...podsOf(set.metadata.uid as string)].some((pod) => !isFinished(pod)))
  }

  /** The ReplicaSet with today's template, under the latest revision; created when there is none. */
  async function ensureCurrent(deployment: Deployment, sets: ReplicaSetsOfDeployment): Promise<ReplicaSet> {
    const revision = nextRevision(sets.old)
    const { current } = sets
    if (current === undefined) return createCurrent(deployment, sets, revision)
    const annotations = annotationsForCurrent(deployment, current, revision)
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0
    if (annotations === current.metadata.annotations && (current.spec.minReadySeconds ?? 0) === minReadySeconds) {
      return current
    }
    return writeSet({
      ...current,
      metadata: { ...current.metadata, annotations },
      spec: { ...current.spec, minReadySeconds },
    })
  }

  async function createCurrent(
    deployment: Deployment,
    sets: ReplicaSetsOfDeployment,
    revision: number,
  ): Promise<ReplicaSet> {
    const replicas = nextSizeOfCurrent(deployment, sets)
    const set = buildReplicaSet(deployment, { replicas, revision })
    try {
      const created = await tools.api.create(replicaSets, set)
      setView.record(created)
      if (replicas > 0) {
        const message = `Scaled up replica set ${created.metadata.name} from 0 to ${replicas}`
        tools.recorder.record(deployment, 'Normal', 'ScalingReplicaSet', message)
      }
      return created
    } catch (error) {
      if (hasReason(error, 'AlreadyExists')) await reportCollision(deployment, set)
      throw error
    }
  }

  /** The name is taken by a set that is not ours or has another template: the next hash is made differently. */
  async function reportCollision(deployment: Deployment, set: ReplicaSet): Promise<void> {
    const taken = setView.get(keyText(keyOf(set)))
    if (taken === undefined) return
    const { collisionCount = 0, ...status } = (deployment.status ?? {}) as DeploymentStatus
    const next: DeploymentStatus = { ...status, collisionCount: collisionCount + 1 }
    await writeStatus(tools, deployments, deployment, next)
  }

  async function scaleAll(deployment: Deployment, steps: readonly ScaleStep[]): Promise<void> {
    const wanted = wantedReplicas(deployment)
    for (const { set, replicas } of steps) {
      const annotations = {
        ...set.metadata.annotations,
        [desiredReplicasAnnotation]: String(wanted),
        [maxReplicasAnnotation]: String(wanted + rolloutMargins(deployment).surge),
      }
      const before = wantedReplicas(set)
      if (before === replicas && isSameJson(annotations, set.metadata.annotations)) continue
      await writeSet({ ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } })
      if (before === replicas) continue
      const message = `Scaled ${before < replicas ? 'up' : 'down'} replica set ${set.metadata.name} from ${before} to ${replicas}`
      tools.recorder.record(deployment, 'Normal', 'ScalingReplicaSet', message)
    }
  }

  async function writeSet(set: ReplicaSet): Promise<ReplicaSet> {
    const written = await tools.api.update(replicaSets, set)
    setView.record(written)
    return written
  }

  async function dropHistory(deployment: Deployment, { old }: ReplicaSetsOfDeployment): Promise<void> {
    const living = old.filter((set) => !isTerminating(set))
    const excess = living.length - (deployment.spec.revisionHistoryLimit ?? 10)
    if (excess <= 0) return
    living.sort((a, b) => revisionOf(a) - revisionOf(b) || byAge(a, b))
    for (const set of living.slice(0, excess)) {
      const isObserved = (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0)
      const isEmpty = wantedReplicas(set) === 0 && (set.status?.replicas ?? 0) === 0
      if (isEmpty && isObserved) await deleteExactly(tools, replicaSets, set)
    }
  }

  /** Says in the Progressing condition that a rollout was stopped or goes on; the next reconcile then finds that said. */
  async function reportPause(deployment: Deployment): Promise<Deployment> {
    const held = conditionOf(deployment, 'Progressing')
    if (deadlineSeconds(deployment) === undefined || held?.reason === 'ProgressDeadlineExceeded') return deployment
    const isPaused = deployment.spec.paused === true
    const saysPaused = held?.reason === 'DeploymentPaused'
    if (isPaused === saysPaused) return deployment
    const progress: Progress = isPaused
      ? { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' }
      : { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' }
    return writeStatus(tools, deployments, deployment, {
      ...deployment.status,
      conditions: withDeploymentCondition(deployment.status?.conditions, progressing(progress)),
    })
  }

  function progressing(progress: Progress): DeploymentCondition {
    return { type: 'Progressing', ...progress, lastUpdateTime: timestamp(tools.clock) }
  }

  async function reportStatus(deployment: Deployment, sets: ReplicaSetsOfDeployment): Promise<void> {
    const counted = countReplicas(deployment, sets, timestamp(tools.clock))
    const nowMs = tools.clock.now()
    const progress = decideProgress({ deployment, status: counted, current: sets.current, nowMs })
    const status =
      progress === undefined
        ? counted
        : { ...counted, conditions: withDeploymentCondition(counted.conditions, progressing(progress)) }
    const named = withRevision(deployment, sets.current)
    if (named !== deployment || !isSameJson(status, deployment.status)) {
      await writeStatus(tools, deployments, named, status)
    }
    recheckDeadline(named, status)
  }

  /** The revision travels with the status: an annotation written otherwise would count as a new generation. */
  function withRevision(deployment: Deployment, current: ReplicaSet | undefined): Deployment {
    const revision = current?.metadata.annotations?.[revisionAnnotation]
    const { annotations } = deployment.metadata
    if (revision === undefined || annotations?.[revisionAnnotation] === revision) return deployment
    return {
      ...deployment,
      metadata: { ...deployment.metadata, annotations: { ...annotations, [revisionAnnotation]: revision } },
    }
  }

  function recheckDeadline(deployment: Deployment, status: DeploymentStatus): void {
    const deadline = deadlineSeconds(deployment)
    const held = status.conditions?.find(({ type }) => type === 'Progressing') as DeploymentCondition | undefined
    if (deadline === undefined || held === undefined || isComplete(deployment, status)) return
    if (held.reason === 'ProgressDeadlineExceeded' || held.reason === 'NewReplicaSetAvailable') return
    const due = Date.parse(held.lastUpdateTime ?? '') + (deadline + 1) * 1_000
    queue.addAfter(keyText(keyOf(deployment)), Math.max(1_000, due - tools.clock.now()))
  }

  function refreshed({ current, old }: ReplicaSetsOfDeployment): ReplicaSetsOfDeployment {
    const fresh = (set: ReplicaSet) => setView.get(keyText(keyOf(set))) ?? set
    return { current: current === undefined ? undefined : fresh(current), old: old.map(fresh) }
  }

  tools.onStop(view.subscribe(({ key }) => queue.add(key)))
  wakeOwners({ tools, owned: setView, type: deployments, queue })
  // Recreate waits for the last old pod to go, which changes no ReplicaSet.
  tools.onStop(
    podView.subscribe(({ before, after }) => {
      if (before === undefined || after !== undefined) return
      const controller = before.metadata.ownerReferences?.find((owner) => owner.controller === true)
      const set = setView.get(`${before.metadata.namespace}/${controller?.name}`)
      const owner = set?.metadata.ownerReferences?.find((reference) => reference.controller === true)
      if (owner !== undefined) queue.add(`${before.metadata.namespace}/${owner.name}`)
    }),
  )
  return { stop: tools.stop }
}

function split(deployment: Deployment, owned: readonly ReplicaSet[]): ReplicaSetsOfDeployment {
  const current = findCurrent(deployment, owned)
  return { current, old: owned.filter((set) => set !== current) }
}
