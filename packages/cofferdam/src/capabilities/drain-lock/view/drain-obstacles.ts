import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import { listText } from '../../../shared/list-text.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { lossFlags, lossReasons, unaskedLosses } from '../domain/pod-losses.ts'
import type { BudgetFacts, DisruptionSnapshot, PodFacts, PodLoss } from '../domain/snapshot.ts'
import { type PlannedPods, podPlanOf } from './plan-disruption.ts'
import { countOrdinary, roomOf } from './waves/wave-needs.ts'

/** What stands in the way of a node's drain, however long one waits. */
export interface LastingObstacle {
  /** `pdb/shop/orders` */
  readonly object: string
  readonly reason: Reason
  /** The object, its state, and what to do. */
  readonly why: string
}

/**
 * Why the drain of a node, as it is asked for, could never end, or never begin. Known before the first node is touched.
 *
 * By the decisions of the operator, the rules of the eviction API and what storage says: a pod that would be lost, a budget that allows
 * no disruption when all its pods are healthy, pods that more than one budget covers, a last copy that the policy leaves on the node, a limit of 0.
 */
export function findLastingObstacles(
  snapshot: DisruptionSnapshot,
  isByStorage: (budget: BudgetReference) => boolean,
  pods: PlannedPods = podPlanOf(snapshot),
): readonly LastingObstacle[] {
  const { storage, limits } = snapshot
  return [
    ...lostPods(snapshot, pods),
    ...storage.flatMap(({ key, mayGo }): LastingObstacle[] =>
      mayGo.known && !mayGo.value.allowed && mayGo.value.lasts === true
        ? [{ object: key, reason: 'StorageNeedsNode', why: mayGo.value.explanation }]
        : [],
    ),
    ...(limits.known ? limits.value : [])
      .filter(({ most }) => most <= 0)
      .map(({ key }): LastingObstacle => {
        const why = `${key} is 0 in disruptionpolicy/cluster: maintenance of these nodes is stopped. Raise it.`
        return { object: key, reason: 'MaintenanceLimit', why }
      }),
    ...closedBudgets(snapshot, pods, isByStorage),
  ]
}

const lossWords: Record<PodLoss, (pods: string, isOne: boolean) => string> = {
  force: (pods, isOne) =>
    `${pods} ${isOne ? 'has' : 'have'} no controller: an eviction deletes ${isOne ? 'it' : 'them'} for good.`,
  deleteEmptyDirData: (pods, isOne) => `${pods} ${isOne ? 'has' : 'have'} emptyDir data, which an eviction deletes.`,
}

function lostPods(snapshot: DisruptionSnapshot, planned: PlannedPods): readonly LastingObstacle[] {
  const leaves = planned.leaves.filter(({ losses }) => losses.length > 0)
  if (leaves.length === 0) return []
  return (Object.keys(lossFlags) as PodLoss[]).flatMap((loss): LastingObstacle[] => {
    const pods = leaves.filter((pod) => unaskedLosses(pod, snapshot.request).includes(loss))
    const [first] = pods
    if (first === undefined) return []
    const names = listText(pods.map(({ namespace, name }) => `pod/${namespace}/${name}`))
    const why = `${lossWords[loss](names, pods.length === 1)} Use ${lossFlags[loss]}, or move ${pods.length === 1 ? 'it' : 'them'}.`
    return [{ object: `pod/${first.namespace}/${first.name}`, reason: lossReasons[loss], why }]
  })
}

function closedBudgets(
  snapshot: DisruptionSnapshot,
  { leaves, locks, leavesOf }: PlannedPods,
  isByStorage: (budget: BudgetReference) => boolean,
): readonly LastingObstacle[] {
  const budgets = snapshot.budgets.filter((budget) => !isByStorage(budget))
  const stuck = leaves.filter((pod) => pod.budgetUids.length > 1 && budgetsOf(pod, budgets).length > 1)
  const overlapping = stuck.map(({ namespace, name, budgetUids }): LastingObstacle => {
    const names = budgets.filter(({ uid }) => budgetUids.includes(uid)).map(budgetKey)
    const why = `pod/${namespace}/${name} is covered by ${names.join(' and ')}: the eviction API refuses a pod of two budgets. Change the selector of one.`
    return { object: `pod/${namespace}/${name}`, reason: 'BudgetOverlap', why }
  })
  const closed = budgets.flatMap((budget): LastingObstacle[] => {
    const staying = locks.find((lock) => lock.budget.uid === budget.uid)?.pods.length ?? 0
    const room = roomOf(budget)
    if (room > 0 && staying <= room) return []
    const leaving = (leavesOf.get(budget.uid) ?? []).filter((pod) => pod.isReady && !stuck.includes(pod))
    const object = budgetKey(budget)
    if (room === 0 && leaving.length + staying > 0) {
      const why = `${object} never allows a disruption: ${budget.desiredHealthy} of ${budget.expectedPods} pods must be healthy. Lower minAvailable, or add replicas.`
      return [{ object, reason: 'BudgetImpossible', why }]
    }
    if (staying <= room) return []
    const why = `${object} lets ${room} pods be away, and ${staying} stay on ${snapshot.request.nodeName} while it is rebooted. Use --no-skip-drain, or raise maxUnavailable.`
    return [{ object, reason: 'BudgetImpossible', why }]
  })
  return [...overlapping, ...closed]
}

function budgetsOf({ kind, budgetUids }: PodFacts, budgets: readonly BudgetFacts[]): readonly BudgetFacts[] {
  return kind === 'ordinary' ? budgets.filter(({ uid }) => budgetUids.includes(uid)) : []
}

/** What a drain of the node can run into although nothing forbids it. */
export function findForeseenWedges(
  snapshot: DisruptionSnapshot,
  isByStorage: (budget: BudgetReference) => boolean,
  { leavesOf, going }: PlannedPods = podPlanOf(snapshot),
): readonly LastingObstacle[] {
  const node = snapshot.request.nodeName
  const tight = snapshot.budgets.flatMap((budget): LastingObstacle[] => {
    const pods = countOrdinary(leavesOf.get(budget.uid))
    const room = roomOf(budget)
    if (room === 0 || pods <= room || isByStorage(budget)) return []
    const why = `${budgetKey(budget)} lets ${room} of its ${pods} pods on ${node} be away at a time: each next one leaves when the one before it is ready elsewhere. Check that other nodes can run them.`
    return [{ object: budgetKey(budget), reason: 'BudgetExhausted', why }]
  })
  const stuck = going.flatMap((pod): LastingObstacle[] => {
    const { endsMs, finalizers } = pod.leaving ?? { endsMs: undefined, finalizers: [] }
    if (endsMs === undefined || endsMs > snapshot.nowMs - stuckAfterMs) return []
    const object = `pod/${pod.namespace}/${pod.name}`
    const kept =
      finalizers.length === 0 ? 'its kubelet has not removed it' : `finalizer ${finalizers.join(', ')} keeps it`
    return [
      {
        object,
        reason: 'PodIsLeaving',
        why: `${object} should have ended at ${rfc3339(endsMs)}: ${kept}. The drain waits for it.`,
      },
    ]
  })
  return [...tight, ...stuck]
}

const stuckAfterMs = 600_000
