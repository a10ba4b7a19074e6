import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, controllerOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Blocker, Cause } from '../../../shared/blocker.ts'
import { causeOf, explainPodHealth } from '../../../shared/pod-health.ts'
import { quorumAtRisk } from '../../../shared/quorum-budget.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { StorageAnswer } from '../../../shared/storage-answer.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { blockedDomain, domainOf } from './blocked-domain.ts'

export function quorumRefusal(
  budget: PodDisruptionBudget,
  covered: readonly Pod[],
): Omit<Blocker, 'object' | 'waiting'> {
  const namespace = budget.metadata.namespace ?? ''
  const away = covered.map(explainPodHealth).filter(({ isHealthy }) => !isHealthy)
  const since = conditionOf(budget, 'DisruptionAllowed')?.lastTransitionTime
  return {
    ...quorumAtRisk,
    ...(away.length === 0 ? {} : { holder: away.map(({ pod }) => `pod/${pod}`).join(', ') }),
    ...(since === undefined ? {} : { since }),
    causes: away.map(causeOf),
    override: `kubectl -n ${namespace} delete pod NAME bypasses the budget; without a majority of monitors all of Ceph stops`,
  }
}

/** Why an OSD budget allows no disruption: what was decided about its failure domain, else what is on record. */
export function storageRefusal({
  budget,
  covered,
  storage,
}: {
  readonly budget: PodDisruptionBudget
  readonly covered: readonly Pod[]
  readonly storage: readonly StorageView[]
}): Omit<Blocker, 'object' | 'waiting'> {
  const namespace = budget.metadata.namespace ?? ''
  const owner = controllerOf(budget)
  const view = storage.find((each) => each.namespace === namespace && each.name === owner?.name)
  const domain = blockedDomain(budget)
  const answer = view?.domains.find((each) => each.domain === domain)
  const undecided: Reason = 'StorageUndecided'
  const away = covered.map(explainPodHealth).filter(({ isHealthy }) => !isHealthy)
  const since = view?.since ?? conditionOf(budget, 'DisruptionAllowed')?.lastTransitionTime
  return {
    reason: answer?.reason ?? view?.reason ?? undecided,
    explanation:
      answer?.explanation ?? view?.explanation ?? 'the budget blocks its OSDs, and no reason is recorded on it',
    holder: `cephcluster/${namespace}/${owner?.name ?? ''}`,
    ...(since === undefined ? {} : { since }),
    causes: [...away.map(causeOf), ...absentOperator(view)],
    unblocks: whatUnblocks(view, answer?.reason ?? view?.reason, away.length > 0),
    override: overrideOf(namespace),
  }
}

/** What each Ceph cluster that has OSDs on the node says about draining it. */
export function storageAnswers({
  nodeName,
  podsOnNode,
  storage,
}: {
  readonly nodeName: string
  readonly podsOnNode: readonly Pod[]
  readonly storage: readonly StorageView[]
}): StorageAnswer[] {
  return storage.flatMap((view) => {
    const osdPods = osdPodsOf(view, podsOnNode)
    const answer = view.domains.find(({ nodes }) => nodes.includes(nodeName))
    if (osdPods.length === 0 && answer === undefined) return []
    const { failureDomainType: type } = view
    const [first] = osdPods
    const domain = answer?.domain ?? (first && domainOf(first, type))
    const osds = [...new Set(osdPods.map((pod) => osdOf(pod) as number))].sort((a, b) => a - b)
    return [
      {
        cluster: `${view.namespace}/${view.name}`,
        osds,
        ...(type === undefined ? {} : { failureDomainType: type }),
        ...(domain === undefined ? {} : { domain }),
        reason: answer?.reason ?? view.reason,
        explanation: answer?.explanation ?? view.explanation,
        ...(view.since === undefined ? {} : { since: view.since }),
        source: view.source,
        ...(view.isAttended === undefined ? {} : { isAttended: view.isAttended }),
        ...(view.unattendedSince === undefined ? {} : { unattendedSince: view.unattendedSince }),
      },
    ]
  })
}

/**
 * A failure domain that was judged and may not be away now, although no budget says so yet. An OSD that does not run is
 * away already: a drain takes nothing with it.
 */
export function storageBlocker(
  view: StorageView,
  { nodeName, podsOnNode }: { readonly nodeName: string; readonly podsOnNode: readonly Pod[] },
): Blocker | undefined {
  const answer = view.domains.find(({ nodes }) => nodes.includes(nodeName))
  const osdPods = osdPodsOf(view, podsOnNode).filter(isRunning)
  if (answer === undefined || answer.mayDrain || osdPods.length === 0) return undefined
  return {
    object: `cephcluster/${view.namespace}/${view.name}`,
    reason: answer.reason,
    explanation: answer.explanation,
    holder: `cephcluster/${view.namespace}/${view.name}`,
    ...(view.since === undefined ? {} : { since: view.since }),
    causes: absentOperator(view),
    unblocks: whatUnblocks(view, answer.reason, false),
    override: overrideOf(view.namespace),
    waiting: osdPods.map((pod) => `pod/${keyText(keyOf(pod))}`),
  }
}

/** Whether the pod is an OSD that no budget holds because its failure domain was chosen to be away. */
export function isReleased(pod: Pod, storage: readonly StorageView[]): boolean {
  return (
    osdOf(pod) !== undefined &&
    storage.some(({ namespace, openDomains }) => namespace === pod.metadata.namespace && openDomains.length > 0)
  )
}

function osdPodsOf({ namespace }: StorageView, pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => pod.metadata.namespace === namespace && osdOf(pod) !== undefined)
}

/** What is leaving or not ready gives nothing that an eviction could take. */
export function isRunning(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
}

/** Which OSD a pod or a Deployment is of. */
export function osdOf({ metadata }: KubeObject): number | undefined {
  const { labels = {} } = metadata
  const id = labels['app'] === 'rook-ceph-osd' ? (labels['ceph-osd-id'] ?? labels['osd']) : undefined
  return id === undefined || !/^\d{1,9}$/.test(id) ? undefined : Number(id)
}

/** A budget of Cofferdam stays as it is while no operator manages it, whatever the data says meanwhile. */
function absentOperator(view: StorageView | undefined): Cause[] {
  if (view?.isAttended !== false) return []
  const { unattendedSince: since } = view
  const says = 'is not running, so this may be out of date, and the budget does not change'
  return [{ object: 'the operator', says, ...(since === undefined ? {} : { since }) }]
}

function whatUnblocks(view: StorageView | undefined, reason: string | undefined, someAreAway: boolean): string {
  const isMissed = view?.isAttended === false
  return `${isMissed ? 'the operator running again, then ' : ''}${wayOuts[reason ?? ''] ?? whatTheDataNeeds(view, someAreAway)}`
}

/** Where more is needed than patience. */
const wayOuts: Readonly<Partial<Record<string, string>>> = {
  PgInDoubt: 'the placement group repaired, as said above',
  RecordRefused: 'a state ConfigMap that can be written again, as said above',
} satisfies Partial<Record<Reason, string>>

function whatTheDataNeeds(view: StorageView | undefined, someAreAway: boolean): string {
  const open = view?.openDomains ?? []
  if (open.length > 0) {
    const type = view?.failureDomainType === undefined ? '' : `${view.failureDomainType} `
    return `${type}${open.join(', ')} back with all its OSDs, and the placement groups clean`
  }
  return someAreAway
    ? 'the OSDs that are away back, or the decision which failure domain may be away'
    : 'clean placement groups'
}

function overrideOf(namespace: string): string {
  return `kubectl -n ${namespace} delete pod NAME bypasses the budget; data may become unavailable, or be lost with the next failure`
}
