import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { observeStorage, type SeenStorage } from '../../capabilities/ceph-drain/observe/from-listing.ts'
import type { DisruptionSnapshot } from '../../capabilities/drain-lock/domain/snapshot.ts'
import { skipDrainAnnotation } from '../../capabilities/drain-lock/observe/objects.ts'
import { isInstanceManagerBudget } from '../../capabilities/longhorn-drain/domain/budget-object.ts'
import { observeLonghornDrains } from '../../capabilities/longhorn-drain/observe/from-listing.ts'
import type { LonghornView } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { GuardSnapshot } from '../../explain/snapshot.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import type { StorageView } from '../../shared/storage-view.ts'
import { asIfMade } from '../drain/drain-request.ts'
import type { Question } from '../explain/question.ts'
import { observeRehearsal } from './observe-rehearsal.ts'

/** What guards these pods of one namespace, whose budgets are all of that namespace. */
export async function observePodGuards(
  asked: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
  question: Question,
  notSeen: string[],
): Promise<GuardSnapshot> {
  const guarding = asked.flatMap((pod) => budgetsOf(pod, budgets))
  const [peers, seen, holds, longhorn] = await Promise.all([
    podsOf(guarding, question),
    storageBehind(budgets, question),
    observeHolds(question, budgets, notSeen),
    guarding.some(isInstanceManagerBudget) ? longhornBehind(question, notSeen) : undefined,
  ])
  notSeen.push(...seen.notSeen)
  const { storage } = seen
  const name = asked[0]?.spec.nodeName ?? ''
  const rehearsal = await rehearsalFor(asked, { name, storage, budgets: undefined, longhorn }, question, notSeen)
  return { pods: peers, budgets, storage, holds, ...(longhorn && { longhorn }), ...rehearsal }
}

/** What a drain for a reboot would see; asked only where a pod wants to stay. */
export async function rehearsalFor(
  asked: readonly Pod[],
  {
    name,
    storage,
    budgets,
    longhorn,
  }: {
    readonly name: string
    readonly storage: readonly StorageView[]
    readonly budgets: readonly PodDisruptionBudget[] | undefined
    readonly longhorn: LonghornView | undefined
  },
  { api, clock, signal }: Question,
  notSeen: string[],
): Promise<{ readonly rehearsal?: DisruptionSnapshot }> {
  if (name === '' || !asked.some(({ metadata }) => metadata.annotations?.[skipDrainAnnotation] === 'true')) return {}
  const request = asIfMade({
    nodeName: name,
    intent: 'Reboot',
    requester: '',
    honourSkipDrain: true,
    accepts: [],
    nowMs: clock.now(),
  })
  const rehearsal = await ifAllowed(`what stays on ${name}`, notSeen, () =>
    observeRehearsal(
      request,
      { api, clock, signal, storage, ...(budgets && { budgets }), ...(longhorn && { longhorn }) },
      notSeen,
    ),
  )
  return rehearsal === undefined ? {} : { rehearsal }
}

export function storageBehind(budgets: readonly PodDisruptionBudget[], question: Question): Promise<SeenStorage> {
  const { api, signal } = question
  return observeStorage({ api, budgets, operator: (notSeen) => observeOperator(question, notSeen), signal })
}

export function longhornBehind(question: Question, notSeen: string[]): Promise<LonghornView | undefined> {
  const { api, clock, signal } = question
  const operator = (unseen: string[]) => observeOperator(question, unseen)
  return observeLonghornDrains({ api, clock, operator, signal }, notSeen)
}

/** Every pod in the namespaces of these budgets. */
export async function podsOf(budgets: readonly PodDisruptionBudget[], { api, signal }: Question): Promise<Pod[]> {
  const namespaces = [...new Set(budgets.map(({ metadata }) => metadata.namespace ?? ''))]
  const lists = await Promise.all(namespaces.map((namespace) => api.list(pods, { namespace, signal })))
  return lists.flatMap(({ items }) => items)
}
