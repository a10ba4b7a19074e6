import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isManagedByUs, withoutMark } from './budget-mark.ts'
import { defaultBudgetName, domainBudgetName, parseOsdBudget } from './osd-budgets.ts'
import type { FlagsOutcome } from './pass-snapshot.ts'
import { isRetired, withoutRetirement } from './retire-budget.ts'
import type { CephDrainSnapshot, OsdBudget } from './snapshot.ts'
import { type OwnPart, ownPartOf, type RecordRelease, releaseDrainState } from './state-map.ts'
import { coverOf } from './wanted-budgets.ts'

/** What is left of ours on a cluster whose budgets are not ours, and how it goes. */
export interface PlannedRelease {
  readonly budgets: readonly BudgetWrite[]
  /** Buckets on which noout of ours is to be unset now. */
  readonly unset: readonly string[]
  /** Buckets on which noout stays on record as ours: it could not be unset yet. */
  readonly left: readonly string[]
  /** Undefined: nothing of ours is in the state ConfigMap. */
  readonly record: RecordRelease | undefined
}

type Snapshot = Pick<CephDrainSnapshot, 'cluster' | 'osds' | 'ceph'>

/**
 * Plans how all that is ours leaves a cluster: to Rook, where that is told to manage the budgets, or for good.
 *
 * What Rook knows stays for it, in place and without our mark: its budgets, what it recorded of a drain, and the noout of that drain. So
 * there is no moment without protection, and Rook continues the same drain. Everything else of ours is removed; a budget that Rook does
 * not know only once others select its OSDs.
 *
 * Guarantees: only what carries our mark, or is on record as ours, is changed. It is decided from what is there alone, so whatever
 * interrupts it, the next pass finishes. A flag is on record as ours until it is gone.
 */
export function planRelease(given: {
  readonly snapshot: Snapshot
  readonly present: readonly PodDisruptionBudget[]
  /** Of the state ConfigMap; undefined where there is none, or it cannot be read. */
  readonly map: Parameters<typeof ownPartOf>[0]
  readonly isReachable: boolean
  readonly flags: FlagsOutcome | undefined
}): PlannedRelease {
  const { snapshot, present, map, isReachable, flags } = given
  const isRooks = snapshot.cluster.rook?.managesBudgets === true
  const own = ownPartOf(map)
  const { unset, left } = flagsToEnd(snapshot, own, { isRooks, isReachable, flags })
  return {
    budgets: isRooks ? handOverBudgets(snapshot, present) : marked(snapshot, present).map(remove),
    unset: flags === undefined ? unset : [],
    left,
    record: own.isThere ? releaseDrainState(map, { left, isRooks }) : undefined,
  }
}

interface Marked {
  readonly seen: PodDisruptionBudget
  readonly budget: OsdBudget
}

function marked({ cluster }: Snapshot, present: readonly PodDisruptionBudget[]): Marked[] {
  return present
    .flatMap((seen): Marked[] => {
      const budget = parseOsdBudget(seen, cluster)
      return budget?.isOurs === true && isManagedByUs(seen) ? [{ seen, budget }] : []
    })
    .sort((a, b) => (a.budget.name < b.budget.name ? -1 : 1))
}

function handOverBudgets(snapshot: Snapshot, present: readonly PodDisruptionBudget[]): BudgetWrite[] {
  const ours = marked(snapshot, present)
  const stay = ours.filter((each) => isKnownToRook(snapshot, each))
  const others = present
    .filter((budget) => !ours.some(({ seen }) => seen === budget))
    .flatMap((budget) => parseOsdBudget(budget, snapshot.cluster) ?? [])
  const isKept = coverOf([...stay.map(({ budget }) => budget), ...others])
  const mayGo = ({ budget }: Marked) => snapshot.osds.filter(coverOf([budget])).every(isKept)
  return [...stay.map(handOver), ...ours.filter((each) => !stay.includes(each) && mayGo(each)).map(remove)]
}

/**
 * By the names under which Rook looks for them. It deletes blocking budgets of its own type of failure domain only, which it has from the
 * pools: others would stay for ever.
 */
function isKnownToRook({ ceph }: Snapshot, { seen, budget: { name, maxUnavailable, selector } }: Marked): boolean {
  if (name === defaultBudgetName) return selector.covers === 'all' || isRetired(seen)
  if (selector.covers !== 'domain' || maxUnavailable !== 0) return false
  const isType = !ceph.known || ceph.value.failureDomainType === selector.type
  return isType && name === domainBudgetName(selector.type, selector.domain)
}

function handOver({ seen }: Marked): BudgetWrite {
  const budget = withoutRetirement(withoutMark(seen))
  return { verb: 'replace', seen: budget, budget }
}

function remove({ seen }: Marked): BudgetWrite {
  return { verb: 'delete', seen }
}

/** The noout of the drain that Rook goes on with is Rook's from then on: it ends it as it ends its own. */
function flagsToEnd(
  { ceph }: Snapshot,
  own: OwnPart,
  given: { readonly isRooks: boolean; readonly isReachable: boolean; readonly flags: FlagsOutcome | undefined },
): Pick<PlannedRelease, 'unset' | 'left'> {
  const ours = own.noout.filter((bucket) => !(given.isRooks && bucket === own.rooksNoout))
  if (!ceph.known || !given.isReachable) return { unset: [], left: ours }
  const unset = ours.filter((bucket) => ceph.value.nooutBuckets.includes(bucket))
  const ended = new Set([...(given.flags?.unset ?? []), ...(given.flags?.gone ?? [])])
  return { unset, left: unset.filter((bucket) => !ended.has(bucket)) }
}
