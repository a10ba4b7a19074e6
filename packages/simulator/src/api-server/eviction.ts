import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf, isOutsideBudgets, mayEvictUnready } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Admission } from './admission/admission.ts'
import type { EmbeddedApi } from './embedded-api.ts'
import { stillBeingProcessed, takeDisruption } from './eviction-budget.ts'
import { type EvictionPreconditions, type ParsedEviction, parseEviction } from './eviction-request.ts'
import type { UserInfo } from './user-info.ts'

export interface EvictionPorts {
  /** Writes with an administrator's rights and without admission: an eviction is admitted once, as an eviction. */
  readonly api: EmbeddedApi
  readonly clock: Clock
  readonly admission: Admission
}

export interface EvictionRequest {
  readonly key: ObjectKey
  readonly body: JsonObject
  readonly user: UserInfo
  /** As asked for in the query; the body may ask for it too. */
  readonly dryRun: boolean
  readonly onWarning?: (text: string) => void
}

const attempts = 20
const pauseMs = 500

/**
 * The `eviction` subresource of pods.
 *
 * Guarantees: no pod that a budget covers goes by eviction unless the budget was read after admission and one disruption
 * was taken from it by compare-and-swap.
 */
export function createEvictionHandler(ports: EvictionPorts): (request: EvictionRequest) => Promise<JsonObject> {
  return async ({ key, body, user, dryRun, onWarning }) => {
    const eviction = parseEviction(key, body, dryRun)
    // Webhooks learn of a dry run only by the query: the real server does not read the body for that.
    await admitEviction(ports.admission, { key, eviction, user, dryRun, onWarning })
    const pod = await deletePodOutsideBudgets(ports, key, eviction)
    if (pod !== undefined) await deletePodWithinBudget(ports, pod, eviction)
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
  }
}

async function admitEviction(
  admission: Admission,
  request: Pick<EvictionRequest, 'key' | 'user' | 'dryRun'> & {
    readonly eviction: ParsedEviction
    readonly onWarning: EvictionRequest['onWarning']
  },
): Promise<void> {
  const { key, user, dryRun, eviction, onWarning } = request
  const matched = { operation: 'CREATE', type: pods, subresource: 'eviction' } as const
  if (!admission.mayMatch(matched)) return
  const warnings = await admission.admit({
    ...matched,
    key,
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    object: eviction.object,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', ...(dryRun ? { dryRun: ['All'] } : {}) },
    user,
    dryRun,
  })
  for (const warning of warnings) onWarning?.(warning)
}

/** Deletes a pod that no budget guards in its present state; otherwise returns the pod as it was read. */
async function deletePodOutsideBudgets(
  ports: EvictionPorts,
  key: ObjectKey,
  eviction: ParsedEviction,
): Promise<Pod | undefined> {
  const isPinned = eviction.preconditions.resourceVersion !== undefined
  return retryConflicts(ports.clock, isPinned ? 1 : attempts, async () => {
    const pod = await ports.api.get(pods, key)
    if (!isOutsideBudgets(pod)) return pod
    // A pending pod may become ready meanwhile, and then its budget counts it.
    const mustStayAsRead = pod.status?.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined
    await markAndDelete(ports, pod, eviction, mustStayAsRead && !isPinned)
    return undefined
  })
}

async function deletePodWithinBudget(ports: EvictionPorts, pod: Pod, eviction: ParsedEviction): Promise<void> {
  const { namespace } = pod.metadata
  const { items } = await ports.api.list(podDisruptionBudgets, namespace === undefined ? {} : { namespace })
  const [budget, second] = budgetsOf(pod, items)
  if (second !== undefined) {
    throw new ApiError(
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      { code: 500 },
    )
  }
  if (budget === undefined) return markAndDelete(ports, pod, eviction, false)
  if (conditionOf(pod, 'Ready')?.status !== 'True' && mayEvictUnready(budget)) {
    try {
      return await markAndDelete(ports, pod, eviction, true)
    } catch (error) {
      const wasPinnedByUs = eviction.preconditions.resourceVersion === undefined
      throw wasPinnedByUs && hasReason(error, 'Conflict') ? stillBeingProcessed(budget.metadata.name) : error
    }
  }
  let latest = budget
  let isStale = false
  await retryConflicts(ports.clock, attempts, async () => {
    if (isStale) latest = await ports.api.get(podDisruptionBudgets, keyOfBudget(budget.metadata))
    isStale = true
    const taken = takeDisruption(latest, pod.metadata.name, timestamp(ports.clock))
    if (!eviction.dryRun) await ports.api.update(podDisruptionBudgets, taken, { subresource: 'status' })
  })
  return markAndDelete(ports, pod, eviction, false)
}

function keyOfBudget({ namespace, name }: { namespace?: string; name: string }): ObjectKey {
  return namespace === undefined ? { name } : { namespace, name }
}

/** Writes the DisruptionTarget condition and deletes the pod; with `asRead`, only if it is still as it was read. */
async function markAndDelete(
  { api, clock }: EvictionPorts,
  pod: Pod,
  eviction: ParsedEviction,
  asRead: boolean,
): Promise<void> {
  const { namespace, name, resourceVersion } = pod.metadata
  const key: ObjectKey = namespace === undefined ? { name } : { namespace, name }
  let preconditions: EvictionPreconditions = {
    ...eviction.preconditions,
    ...(asRead && resourceVersion !== undefined ? { resourceVersion } : {}),
  }
  if (!eviction.dryRun) {
    const marked = await markAsDisruptionTarget({ api, clock, key, preconditions })
    if (preconditions.resourceVersion !== undefined && marked.metadata.resourceVersion !== undefined) {
      preconditions = { ...preconditions, resourceVersion: marked.metadata.resourceVersion }
    }
  }
  await api.delete(pods, key, {
    preconditions,
    ...(eviction.dryRun ? { dryRun: true } : {}),
    ...(eviction.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: eviction.gracePeriodSeconds }),
    ...(eviction.propagationPolicy === undefined ? {} : { propagationPolicy: eviction.propagationPolicy }),
  })
}

async function markAsDisruptionTarget(target: {
  readonly api: EmbeddedApi
  readonly clock: Clock
  readonly key: ObjectKey
  readonly preconditions: EvictionPreconditions
}): Promise<Pod> {
  for (;;) {
    const latest = await target.api.get(pods, target.key)
    checkPreconditions(latest, target.preconditions)
    const conditions = withDisruptionTarget(latest.status?.conditions ?? [], timestamp(target.clock))
    if (conditions === latest.status?.conditions) return latest
    try {
      return await target.api.update(
        pods,
        { ...latest, status: { ...latest.status, conditions } },
        { subresource: 'status' },
      )
    } catch (error) {
      // Somebody wrote the pod between our read and our write: only the preconditions decide whether that matters.
      if (!hasReason(error, 'Conflict')) throw error
    }
  }
}

function withDisruptionTarget(conditions: readonly Condition[], now: string): readonly Condition[] {
  const previous = conditions.find(({ type }) => type === 'DisruptionTarget')
  const condition: Condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: (previous?.status === 'True' ? previous.lastTransitionTime : undefined) ?? now,
  }
  if (previous === undefined) return [...conditions, condition]
  const isSame =
    previous.status === 'True' && previous.reason === condition.reason && previous.message === condition.message
  return isSame ? conditions : conditions.map((each) => (each === previous ? condition : each))
}

function checkPreconditions({ metadata }: Pod, { uid, resourceVersion }: EvictionPreconditions): void {
  if (uid !== undefined && uid !== '' && uid !== metadata.uid) {
    throw conflict(
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ''}). The object might have been modified`,
    )
  }
}

function conflict(name: string, why: string): ApiError {
  return new ApiError('Conflict', `Operation cannot be fulfilled on Pod "${name}": ${why}`, {
    details: { name, kind: 'Pod' },
  })
}

async function retryConflicts<T>(clock: Clock, steps: number, attempt: () => Promise<T>): Promise<T> {
  for (let step = 1; ; step += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (step >= steps || !hasReason(error, 'Conflict')) throw error
      await sleep(clock, pauseMs)
    }
  }
}
