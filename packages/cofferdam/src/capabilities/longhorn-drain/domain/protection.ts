import { closingText } from '../../../shared/closed-node.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { mayGoAsLast } from './replica-rule.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { LonghornNodeView, ReplicaView } from './snapshot.ts'

/** Why a copy is nothing to rely on. */
export type Weakness =
  | 'failed'
  | 'incomplete'
  | 'leaving'
  | 'surplus'
  | 'unplaced'
  | 'node-gone'
  | 'node-closed'
  | 'node-silent'
  | 'node-blipping'
  | 'manager-away'
  | 'budget-missing'
  | 'budget-released'
  | 'free-to-go'

const sayings: Readonly<Record<Weakness, string>> = {
  failed: 'has failed',
  incomplete: 'is not complete yet',
  leaving: 'is being deleted',
  surplus: 'is to be removed as one too many',
  unplaced: 'has no place yet',
  'node-gone': 'is on a node that is gone',
  'node-closed': 'is on a cordoned node',
  'node-silent': 'is on a node that does not answer',
  'node-blipping': 'is on a node that is NotReady',
  'manager-away': 'has no running instance manager',
  'budget-missing': 'is not held by a budget',
  'budget-released': 'is not held by a budget any more',
  'free-to-go': 'may go with its node by its policy',
}

/** What one decision has settled so far. It only grows, and what it settles is never counted on again. */
export interface SettledSoFar {
  readonly index: LonghornIndex
  /** Instance managers whose budgets this decision lets go. */
  readonly released: ReadonlySet<string>
  /** Instance managers that get a budget by this decision and have none yet. */
  readonly planned: ReadonlySet<string>
  /** Replicas that this decision removes. */
  readonly surplus: ReadonlySet<string>
  /** While budgets are settled one node after the other: only what nodes with lesser names gave up or get counts yet. */
  readonly before?: string
}

export function isHealthy({ healthyAt, failedAt, isBeingDeleted }: ReplicaView): boolean {
  return healthyAt !== '' && failedAt === '' && !isBeingDeleted
}

/** Never written by an engine, or being rebuilt: losing it loses nothing. */
export function isUnused({ healthyAt, failedAt }: ReplicaView): boolean {
  return healthyAt === '' && failedAt === ''
}

/**
 * Whether a replica stands for data on its node. An inactive one does not where the active one of the same directory is
 * there to answer for it, and says the same of itself.
 *
 * Fails closed: an inactive one without such a double may hold the only data, so it stands for it, though it is no copy
 * that others may rely on.
 */
export function standsForData(index: LonghornIndex, replica: ReplicaView): boolean {
  if (replica.isActive) return true
  return !index
    .copiesOf(replica.volume)
    .some(
      (copy) =>
        copy.node === replica.node &&
        copy.directory !== '' &&
        hasSameDirectory(copy, replica) &&
        isUnused(copy) === isUnused(replica) &&
        copy.isStopped === replica.isStopped,
    )
}

export function hasSameDirectory(left: ReplicaView, right: ReplicaView): boolean {
  return left.diskUuid === right.diskUuid && left.directory === right.directory
}

/**
 * What keeps a copy from being protected now; undefined when it is.
 *
 * Longhorn's rule: healthy, on a Kubernetes node that is there and takes pods, its instance manager runs and has a budget.
 * Fails closed: copies that are being deleted, nodes that do not answer, and what this very decision gives up do not count.
 */
export function weaknessOf(so: SettledSoFar, copy: ReplicaView): Weakness | undefined {
  const { index } = so
  const own = ownWeakness(index, copy)
  if (own !== undefined) return own
  if (so.surplus.has(copy.name)) return 'surplus'
  if (isOnSilentNode(so, copy)) return 'node-silent'
  const manager = copy.instanceManager as string
  if (!index.budgets.has(manager)) return 'budget-missing'
  return isReleased(so, copy) ? 'budget-released' : undefined
}

/**
 * Whether a copy is protected once this decision is carried out. Nothing may be given up on the strength of it; it only
 * keeps data from being moved, or a second budget from being made, for the time that a first one takes to appear.
 */
function isProtectedSoon(so: SettledSoFar, copy: ReplicaView): boolean {
  if (ownWeakness(so.index, copy) !== undefined || so.surplus.has(copy.name)) return false
  const manager = copy.instanceManager as string
  if (so.index.budgets.has(manager)) return !isReleased(so, copy)
  return so.planned.has(manager) && isSettled(so, copy)
}

function isReleased(so: SettledSoFar, copy: ReplicaView): boolean {
  return so.released.has(copy.instanceManager as string) && isSettled(so, copy)
}

function isSettled({ before }: SettledSoFar, { node }: ReplicaView): boolean {
  return before === undefined || node < before
}

function ownWeakness(index: LonghornIndex, copy: ReplicaView): Weakness | undefined {
  if (copy.failedAt !== '') return 'failed'
  if (copy.healthyAt === '') return 'incomplete'
  if (copy.isBeingDeleted) return 'leaving'
  if (copy.node === '') return 'unplaced'
  const node = index.nodes.get(copy.node)
  if (node === undefined || node.kubernetes === 'absent') return 'node-gone'
  if (node.isCordoned) return 'node-closed'
  const manager = copy.instanceManager === undefined ? undefined : index.instanceManagers.get(copy.instanceManager)
  return manager?.isRunning === true && manager.node === copy.node ? undefined : 'manager-away'
}

/** By Longhorn's rule, which asks no copy for its own policy. */
export function hasProtectedCopyElsewhere(so: SettledSoFar, replica: ReplicaView): boolean {
  return hasCopyElsewhere(so, replica, (copy) => weaknessOf(so, copy) === undefined)
}

/**
 * Whether another copy is protected, and keeps its node when this one has gone for its sake.
 *
 * A kubelet that is NotReady for a moment is no reason to hold a node, but where a budget of ours holds one it is a reason to keep it:
 * else the node could be emptied in the very seconds in which the other copy may be gone for good.
 */
export function hasCopyToRelyOn(so: SettledSoFar, replica: ReplicaView): boolean {
  return hasCopyElsewhere(so, replica, (copy) => weaknessFor(so, replica, copy) === undefined)
}

/** The same once this decision is carried out: enough not to make a budget where there is none. */
export function hasCopyToHoldSoon(so: SettledSoFar, replica: ReplicaView): boolean {
  return hasCopyElsewhere(
    so,
    replica,
    (copy) => isProtectedSoon(so, copy) && !isFreeToGo(so, copy) && !isOnSilentNode(so, copy),
  )
}

/** By Longhorn's rule, which asks no node whether it answers. */
export function hasCopyToRelyOnSoon(so: SettledSoFar, replica: ReplicaView): boolean {
  return hasCopyElsewhere(so, replica, (copy) => isProtectedSoon(so, copy) && !isFreeToGo(so, copy))
}

function hasCopyElsewhere(
  { index }: SettledSoFar,
  { volume, node }: ReplicaView,
  isSuch: (copy: ReplicaView) => boolean,
): boolean {
  return index.copiesOf(volume).some((copy) => copy.node !== node && isSuch(copy))
}

/** That it may go comes before the budget that it lacks for that reason. */
function weaknessToRelyOn(so: SettledSoFar, copy: ReplicaView): Weakness | undefined {
  const weakness = weaknessOf(so, copy)
  const isForBudget = weakness === 'budget-missing' || weakness === 'budget-released'
  return (weakness === undefined || isForBudget) && isFreeToGo(so, copy) ? 'free-to-go' : weakness
}

/** The same for a replica whose node may be held already. */
function weaknessFor(so: SettledSoFar, replica: ReplicaView, copy: ReplicaView): Weakness | undefined {
  const weakness = weaknessToRelyOn(so, copy)
  if (weakness !== undefined || so.index.nodes.get(copy.node)?.isBlipping !== true) return weakness
  const isHeld = so.index.instanceManagersOn(replica.node).some(({ name }) => so.index.holds.has(name))
  return isHeld ? 'node-blipping' : undefined
}

function isOnSilentNode({ index }: SettledSoFar, { node }: ReplicaView): boolean {
  return index.nodes.get(node)?.kubernetes === 'silent'
}

/**
 * Where the cluster is autoscaled, an open node goes as soon as nothing on it holds it. A copy that holds nothing may go with it at any
 * moment, by this very decision or by Longhorn's: then one that was let go for its sake would have been the last.
 */
function isFreeToGo({ index }: SettledSoFar, copy: ReplicaView): boolean {
  return index.settings.isAutoscaled && mayGoAsLast(index, copy)
}

/** A node may be closed by a taint alone, and then nobody finds a cordon on it. */
function sayingOf(weakness: Weakness, node: LonghornNodeView | undefined): string {
  const isUnseen = weakness === 'node-closed' && node?.closing !== undefined && !isSeenClosed(node)
  return isUnseen ? `is on a node ${closingText(node.closing)}` : sayings[weakness]
}

/** Names the other copies and what is wrong with each. */
export function explainOtherCopies(so: SettledSoFar, replica: ReplicaView): string {
  const others = so.index.copiesOf(replica.volume).filter(({ node }) => node !== replica.node)
  if (others.length === 0) return 'there is no copy on another node'
  const named = others.slice(0, 3).map((copy) => {
    const weakness = weaknessFor(so, replica, copy)
    const what = weakness === undefined ? 'is protected' : sayingOf(weakness, so.index.nodes.get(copy.node))
    return `${copy.name}${copy.node === '' ? '' : ` on ${copy.node}`} ${what}`
  })
  return [...named, ...(others.length > 3 ? [`${others.length - 3} more`] : [])].join(', ')
}
