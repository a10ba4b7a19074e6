import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { readStorage } from '../../capabilities/ceph-drain/observe/read-storage.ts'
import type { DisruptionSnapshot } from '../../capabilities/drain-lock/domain/snapshot.ts'
import { skipDrainAnnotation } from '../../capabilities/drain-lock/observe/objects.ts'
import { isOverInstanceManager } from '../../capabilities/longhorn-drain/domain/budget-object.ts'
import { readLonghorn } from '../../capabilities/longhorn-drain/observe/read-longhorn.ts'
import type { LonghornView } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { GuardSnapshot } from '../../explain/snapshot.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import type { Reader } from '../../observe/reader.ts'
import type { StorageView } from '../../shared/storage-view.ts'
import { asIfMade } from '../drain/drain-request.ts'
import { observeRehearsal } from './observe-rehearsal.ts'

/** What guards these pods of one namespace, whose budgets are all of that namespace. */
export async function observePodGuards(
  asked: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
  read: Reader,
): Promise<GuardSnapshot> {
  const guarding = asked.flatMap((pod) => budgetsOf(pod, budgets))
  const [peers, storage, holds, longhorn] = await Promise.all([
    podsOf(guarding, read),
    readStorage(read, budgets),
    observeHolds(read, budgets, read.notSeen),
    guarding.some(isOverInstanceManager) ? readLonghorn(read) : undefined,
  ])
  const name = asked[0]?.spec.nodeName ?? ''
  const rehearsal = await rehearsalFor(asked, { name, storage, budgets: undefined, longhorn }, read)
  const unread = [...read.notSeen]
  return { pods: peers, budgets, storage, holds, unread, ...(longhorn && { longhorn }), ...rehearsal }
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
  { api, clock, notSeen, signal }: Reader,
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

/** Every pod in the namespaces of these budgets. */
export async function podsOf(budgets: readonly PodDisruptionBudget[], { api, signal }: Reader): Promise<Pod[]> {
  const namespaces = [...new Set(budgets.map(({ metadata }) => metadata.namespace ?? ''))]
  const lists = await Promise.all(namespaces.map((namespace) => api.list(pods, { namespace, signal })))
  return lists.flatMap(({ items }) => items)
}
