import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { type Condition, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { jobs, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, deleteExactly, openTools, workloadLagMs, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { isActive, isFinished, isReady, isTerminating } from '../pod-facts.ts'
import { buildJobPod, completionIndexOf, indexesText, parseIndexes, trackingFinalizer } from './job-pods.ts'
import { claimPods, indexByController, wakeOwners } from './owned-pods.ts'
import { createOwnedPod, deleteOwnedPod, withoutZeros } from './pod-control.ts'
import { podsToLetGo } from './replica-set.ts'

type JobSpec = Job['spec'] & {
  readonly completionMode?: 'NonIndexed' | 'Indexed'
  readonly activeDeadlineSeconds?: number
}

type JobStatus = NonNullable<Job['status']> & {
  readonly terminating?: number
  readonly completedIndexes?: string
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] }
}

interface Tally {
  /** All pods that have ended, the uncounted among them. */
  readonly succeeded: number
  readonly failed: number
  readonly completedIndexes: ReadonlySet<number>
  readonly counted: { readonly succeeded: number; readonly failed: number }
  readonly uncounted: NonNullable<JobStatus['uncountedTerminatedPods']>
  readonly hasUncounted: boolean
}

const endOfTarget: Readonly<Record<string, string>> = { SuccessCriteriaMet: 'Complete', FailureTarget: 'Failed' }
const firstBackoffMs = 10_000
const longestBackoffMs = 600_000

/** Runs the pods of Jobs until enough of them have succeeded or too many have failed. */
export function startJobs(ports: ActorPorts): Actor {
  const tools = openTools('job-controller', ports)
  const view = tools.views.of(jobs)
  const podView = tools.views.of(pods)
  const podsOf = indexByController(podView)
  const queue = tools.queue({ needs: [view, podView], work: reconcile, delayMs: workloadLagMs })
  const lastFailureAt = new Map<string, number>()

  async function reconcile(key: string): Promise<void> {
    const job = view.get(key)
    if (job === undefined) return
    if (isJobFinished(job)) {
      await letGoOfPods(job)
      return removeWhenOld(job)
    }
    await claimPods({ tools, owner: job, type: jobs })
    const tally = await countFinished(job)
    const end = decideEnd(job, tally)
    if (end !== undefined) {
      for (const pod of [...podsOf(uidOf(job))].filter(isActive)) await deleteOwnedPod(tools, job, pod)
    } else if (!isTerminating(job)) await reachParallelism(job, tally)
    await reportStatus(job, tally, end)
  }

  /**
   * Finished pods carry the finalizer until they are counted: first their uids are written down, then the finalizers go,
   * then the numbers rise. So none is counted twice, and none is lost when somebody deletes it early.
   */
  async function countFinished(job: Job): Promise<Tally> {
    const status = (job.status ?? {}) as JobStatus
    const { succeeded: wonUids = [], failed: lostUids = [] } = status.uncountedTerminatedPods ?? {}
    const writtenDown = new Set([...wonUids, ...lostUids])
    const finished = [...podsOf(uidOf(job))].filter((pod) => isFinished(pod) && isTracked(pod))
    for (const pod of finished) if (writtenDown.has(podUid(pod))) await untrack(pod)
    const fresh = finished.filter((pod) => !writtenDown.has(podUid(pod)))
    const won = fresh.filter((pod) => pod.status?.phase === 'Succeeded')
    const lost = fresh.filter((pod) => pod.status?.phase !== 'Succeeded')
    const indexes = new Set(parseIndexes(status.completedIndexes))
    for (const pod of won) indexes.add(completionIndexOf(pod) ?? -1)
    indexes.delete(-1)
    const counted = {
      succeeded: isIndexed(job) ? indexes.size : (status.succeeded ?? 0) + wonUids.length,
      failed: (status.failed ?? 0) + lostUids.length,
    }
    return {
      counted,
      succeeded: isIndexed(job) ? indexes.size : counted.succeeded + won.length,
      failed: counted.failed + lost.length,
      completedIndexes: indexes,
      uncounted: {
        ...(won.length === 0 ? {} : { succeeded: won.map(podUid) }),
        ...(lost.length === 0 ? {} : { failed: lost.map(podUid) }),
      },
      hasUncounted: fresh.length > 0,
    }
  }

  function decideEnd(job: Job, { succeeded, failed }: Tally): Condition | undefined {
    const { backoffLimit = 6, completions, activeDeadlineSeconds } = job.spec as JobSpec
    const decided = job.status?.conditions?.find(({ type, status }) => type in endOfTarget && status === 'True')
    if (decided !== undefined) return { ...decided, type: endOfTarget[decided.type] as string }
    const restarts = [...podsOf(uidOf(job))].reduce((sum, pod) => sum + restartsOnFailure(job, pod), 0)
    if (failed > backoffLimit || (restarts > 0 && restarts >= backoffLimit)) {
      const message = 'Job has reached the specified backoff limit'
      return { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message }
    }
    const started = Date.parse(job.status?.startTime ?? '')
    if (activeDeadlineSeconds !== undefined && job.spec.suspend !== true && !Number.isNaN(started)) {
      const left = started + activeDeadlineSeconds * 1_000 - tools.clock.now()
      if (left <= 0) {
        const message = 'Job was active longer than specified deadline'
        return { type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message }
      }
      queue.addAfter(keyText(keyOf(job)), left)
    }
    const active = [...podsOf(uidOf(job))].filter(isActive).length
    const isDone = completions === undefined ? succeeded > 0 && active === 0 : succeeded >= completions
    if (!isDone) return undefined
    const message = 'Reached expected number of succeeded pods'
    return { type: 'Complete', status: 'True', reason: 'CompletionsReached', message }
  }

  async function reachParallelism(job: Job, { succeeded, failed, completedIndexes }: Tally): Promise<void> {
    const { parallelism = 1, completions, suspend = false } = job.spec
    const active = [...podsOf(uidOf(job))].filter(isActive)
    const open = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - succeeded
    const wanted = suspend ? 0 : Math.max(0, Math.min(parallelism, open))
    for (const pod of podsToLetGo(active, active.length - wanted)) await deleteOwnedPod(tools, job, pod)
    if (active.length >= wanted) return
    const wait = backoffLeft(job, failed)
    if (wait > 0) return queue.addAfter(keyText(keyOf(job)), wait)
    const taken = new Set([...completedIndexes, ...active.map(completionIndexOf)])
    let index = 0
    for (let count = active.length; count < wanted; count += 1) {
      while (isIndexed(job) && taken.has(index)) index += 1
      await createOwnedPod(tools, job, buildJobPod(job, isIndexed(job) ? index++ : undefined))
    }
  }

  /** A job whose pods fail tries again later and later. */
  function backoffLeft(job: Job, failed: number): number {
    if (failed === 0) return 0
    const uid = uidOf(job)
    const known = lastFailureAt.get(`${uid}/${failed}`)
    if (known === undefined) {
      lastFailureAt.delete(`${uid}/${failed - 1}`)
      lastFailureAt.set(`${uid}/${failed}`, tools.clock.now())
    }
    const since = known ?? tools.clock.now()
    return since + Math.min(firstBackoffMs * 2 ** (failed - 1), longestBackoffMs) - tools.clock.now()
  }

  async function reportStatus(job: Job, tally: Tally, end: Condition | undefined): Promise<void> {
    const all = [...podsOf(uidOf(job))]
    const active = all.filter(isActive)
    const terminating = all.filter((pod) => isTerminating(pod) && !isFinished(pod)).length
    const now = timestamp(tools.clock)
    // The end is only said when nothing of the job runs any more.
    const isOver = end !== undefined && active.length === 0 && terminating === 0 && !tally.hasUncounted
    const conditions = end === undefined ? suspension(job, now) : withEnd(job, end, { isOver, now })
    const status: JobStatus = {
      ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
      ...(job.spec.suspend === true && job.status?.startTime === undefined
        ? {}
        : { startTime: job.status?.startTime ?? now }),
      ...(isOver && end.type === 'Complete' ? { completionTime: now } : {}),
      ...withoutZeros({ active: active.length, ...tally.counted }),
      ready: active.filter(isReady).length,
      terminating,
      ...(isIndexed(job) && tally.completedIndexes.size > 0
        ? { completedIndexes: indexesText(tally.completedIndexes) }
        : {}),
      uncountedTerminatedPods: tally.uncounted,
    }
    if (!isSameJson(status, job.status)) await writeStatus(tools, jobs, job, status)
    if (isOver) reportEnd(job, end)
  }

  function reportEnd(job: Job, end: Condition): void {
    if (end.type === 'Complete') tools.recorder.record(job, 'Normal', 'Completed', 'Job completed')
    else tools.recorder.record(job, 'Warning', end.reason ?? '', end.message ?? '')
    queue.add(keyText(keyOf(job)))
  }

  function suspension(job: Job, now: string): readonly Condition[] | undefined {
    const held = job.status?.conditions
    const isSuspended = job.spec.suspend === true
    const saysSuspended = held?.find(({ type }) => type === 'Suspended')?.status === 'True'
    if (isSuspended === saysSuspended) return held
    const [reason, message] = isSuspended ? ['Suspended', 'Job suspended'] : ['Resumed', 'Job resumed']
    tools.recorder.record(job, 'Normal', reason as string, message as string)
    return withCondition(held, {
      type: 'Suspended',
      status: isSuspended ? 'True' : 'False',
      reason: `Job${reason}`,
      message: message as string,
      lastTransitionTime: now,
      ...probed(now),
    })
  }

  async function letGoOfPods(job: Job): Promise<void> {
    for (const pod of Array.from(podsOf(uidOf(job)))) if (isTracked(pod)) await untrack(pod)
  }

  async function untrack(pod: Pod): Promise<void> {
    const finalizers = (pod.metadata.finalizers ?? []).filter((name) => name !== trackingFinalizer)
    const written = await tools.api.update(pods, { ...pod, metadata: { ...pod.metadata, finalizers } })
    if (isTerminating(pod)) podView.recordDeleted(written)
    else podView.record(written)
  }

  async function removeWhenOld(job: Job): Promise<void> {
    const { ttlSecondsAfterFinished } = job.spec
    const finished = job.status?.conditions?.find(({ type, status }) => isEnd(type) && status === 'True')
    if (ttlSecondsAfterFinished === undefined || isTerminating(job)) return
    const left = Date.parse(finished?.lastTransitionTime ?? '') + ttlSecondsAfterFinished * 1_000 - tools.clock.now()
    if (left > 0) queue.addAfter(keyText(keyOf(job)), left)
    else await deleteExactly(tools, jobs, job, { propagationPolicy: 'Foreground' })
  }

  tools.onStop(view.subscribe(({ key }) => queue.add(key)))
  wakeOwners({ tools, owned: podView, type: jobs, queue })
  const strays = tools.queue({ needs: [view, podView], work: releaseStray })

  /** A tracked pod whose job has gone would otherwise never go. */
  async function releaseStray(key: string): Promise<void> {
    const pod = podView.get(key)
    if (pod === undefined || !isTracked(pod)) return
    const owner = controllerOf(pod)
    const job = view.get(`${pod.metadata.namespace}/${owner?.name}`)
    if (owner?.kind !== 'Job' || job === undefined || job.metadata.uid !== owner.uid) await untrack(pod)
  }

  tools.onStop(
    podView.subscribe(({ key, after }) => {
      if (after !== undefined && isTracked(after) && isTerminating(after)) strays.add(key)
    }),
  )
  tools.onStop(
    view.subscribe(({ before, after }) => {
      if (before === undefined || after !== undefined) return
      for (const pod of podsOf(uidOf(before))) if (isTracked(pod)) strays.add(keyText(keyOf(pod)))
    }),
  )
  return { stop: tools.stop }
}

function uidOf(job: Job): string {
  return job.metadata.uid as string
}

function podUid(pod: Pod): string {
  return pod.metadata.uid as string
}

function isIndexed(job: Job): boolean {
  return (job.spec as JobSpec).completionMode === 'Indexed'
}

function isTracked(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(trackingFinalizer) === true
}

function isEnd(type: string): boolean {
  return type === 'Complete' || type === 'Failed'
}

function isJobFinished(job: Job): boolean {
  return job.status?.conditions?.some(({ type, status }) => isEnd(type) && status === 'True') === true
}

/** Restarts in place count against the limit only where the pod is to be restarted on failure. */
function restartsOnFailure(job: Job, pod: Pod): number {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure' || !isActive(pod)) return 0
  return (pod.status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0)
}

/** What the end will be is written down while the last pods stop, so that nothing that they do can change it. */
function withEnd(job: Job, end: Condition, { isOver, now }: { isOver: boolean; now: string }): readonly Condition[] {
  const target = end.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
  const said = { ...end, lastTransitionTime: now, ...probed(now) }
  const conditions = withCondition(job.status?.conditions, { ...said, type: target })
  return isOver ? withCondition(conditions, said) : conditions
}

function probed(now: string): { readonly lastProbeTime: string } {
  return { lastProbeTime: now }
}
