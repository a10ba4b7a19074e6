import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { events, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { buildEvent, type EventSubject, type EventText } from '@cofferdam/kubernetes/runtime/build-event.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { AppLock, AppLockQuestion } from '../../ledger/rules/app-lock.ts'
import { observeAppLockRecords } from '../../ledger/store/observe-app-lock-records.ts'
import { eventVoice } from '../../operator/event-recorder.ts'
import { lockWritten } from '../../shared/app-lock-annotation.ts'
import { findObject } from '../explain/find-object.ts'

export interface LockPlace {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
}

/** The budget, and what the locks of its namespace are judged by. */
export async function observeLocks(
  { api, signal }: LockPlace,
  key: { readonly namespace: string; readonly name: string },
): Promise<{ readonly budget: PodDisruptionBudget } & Pick<AppLockQuestion, 'namespace' | 'budgets' | 'records'>> {
  const { namespace } = key
  const [{ items }, records] = await Promise.all([
    api.list(podDisruptionBudgets, { namespace, signal }),
    observeAppLockRecords({ api, signal }),
  ])
  const listed = items.find(({ metadata }) => metadata.name === key.name)
  const budget = listed ?? (await findObject(podDisruptionBudgets, key, { api, signal }))
  const budgets = items.map((item) => {
    const { name, annotations = {} } = item.metadata
    return { name, annotations, ...lockWritten(item) }
  })
  return { budget, namespace, budgets, records }
}

const mostConflicts = 5

/** Reads and writes again while somebody else changes the budget in between. */
export async function untilWritten<T>(attempt: () => Promise<T>): Promise<T> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!hasReason(error, 'Conflict') || conflicts >= mostConflicts) throw error
    }
  }
}

/** Changes annotations of the very version that was read; null takes one away. */
export async function annotateBudget(
  { api, signal }: LockPlace,
  { metadata }: PodDisruptionBudget,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> {
  const { namespace = '', name, resourceVersion } = metadata
  const body = { metadata: { ...(resourceVersion === undefined ? {} : { resourceVersion }), annotations } }
  const options = { fieldManager: 'cofferdam', signal }
  await api.patch(podDisruptionBudgets, { namespace, name }, { type: 'merge', body }, options)
}

/** An Event for later readers. The owner of a lock need not have the right to write one. */
export async function recordEvent(
  { api, clock, random, signal }: LockPlace,
  { about, ...text }: EventText & { readonly about: EventSubject },
): Promise<void> {
  try {
    await api.create(events, buildEvent(about, text, { clock, random, ...eventVoice }), { signal })
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error
  }
}

/** A lock as data. */
export interface LockFacts {
  readonly holder: string
  readonly reason: string
  readonly until: string
}

export function lockFacts({ holder, reason, untilMs }: AppLock): LockFacts {
  return { holder, reason, until: rfc3339(untilMs) }
}
