import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'
import { known, unknown } from '../../../shared/observed.ts'
import type { StorageFacts, StorageHold } from '../../../shared/storage-facts.ts'
import { holdNameOf } from './budget-object.ts'
import { isBound } from './bytes-left.ts'
import type { DecideLeaving } from './decide-leaving.ts'
import type { NodeAnswer, ReplicaBlocker } from './decision.ts'
import { explainLonghornStuck } from './guidance-stuck.ts'
import { longhornConcern } from './longhorn-concern.ts'
import { policyFor, ruleOf } from './policy.ts'
import { isUnused } from './protection.ts'
import type { LonghornSnapshot, ReplicaView, VolumeView } from './snapshot.ts'

/**
 * The key of the one Longhorn of a cluster, wherever that is installed: it has to be the same while the namespace is not known, and in a ledger
 * that is read before Longhorn is.
 */
export const longhornStorageKey = 'storage/longhorn-system/longhorn'

export interface LonghornStorageQuestion {
  readonly snapshot: LonghornSnapshot
  readonly node: string
  /** Since when the key has been held for the node; undefined when it is not, or nobody knows. */
  readonly heldSinceMs: number | undefined
  readonly decide: DecideLeaving
}

/** The same facts for one node after the other, in the operator and in a plan; undefined for a node that Longhorn has nothing to do with. */
export function indexLonghornStorage(
  snapshot: LonghornSnapshot,
  decide: DecideLeaving,
): (node: string, heldSinceMs?: number) => StorageFacts | undefined {
  const concernOf = longhornConcern(snapshot)
  return (node, heldSinceMs) => {
    const concern = concernOf(node)
    if (concern === undefined) return undefined
    if (concern === 'takes-copies') return takerStorageFacts(node)
    return longhornStorageFacts({ snapshot, node, heldSinceMs, decide })
  }
}

/**
 * What Longhorn has to do with a node: whether it may begin to leave, and whether its copies are whole again after it was away.
 *
 * A node may begin as soon as its drain can end: replicas move only once it is cordoned, and until then Longhorn's budgets hold
 * it. It may not where a last copy would stay on it, for then it would be away, and hold its key, for nothing.
 *
 * Guarantees: a node that is back counts as clean only when none of its copies that went with it is still to be rebuilt.
 * Fails closed: a copy on the node that cannot be read makes both unknown.
 */
export function longhornStorageFacts(question: LonghornStorageQuestion): StorageFacts {
  const { snapshot, node } = question
  const { answer, later } = question.decide(snapshot, node)
  const awaited = awaitedCopies(question)
  return {
    key: longhornStorageKey,
    uid: '',
    failureDomain: node,
    mayGo: mayGo(snapshot, later),
    isClean: isClean(snapshot, node, awaited),
    ...(awaited.length === 0 ? {} : { awaited: explainAwaited(snapshot, node, awaited) }),
    holds: [...holdsOf(snapshot, answer), ...unguardedHolds(snapshot, answer), ...stuckHolds(snapshot, answer)],
  }
}

/** Of a node without data that takes copies of others: nothing on it is to be judged, and it leaves beside none of them. */
function takerStorageFacts(node: string): StorageFacts {
  const explanation = `Node ${node} has no copies, and takes those that drains of other nodes move.`
  return {
    key: longhornStorageKey,
    uid: '',
    failureDomain: node,
    mayGo: known({ allowed: true, explanation }),
    isClean: known(true),
    takesCopies: true,
  }
}

/** For callers that could not read it. */
export function unknownLonghornStorage(node: string, why: string): StorageFacts {
  return { key: longhornStorageKey, uid: '', failureDomain: node, mayGo: unknown(why), isClean: unknown(why) }
}

function mayGo(snapshot: LonghornSnapshot, answer: NodeAnswer | undefined): StorageFacts['mayGo'] {
  if (answer === undefined) {
    return known({ allowed: true, explanation: 'Longhorn does not know the node, so nothing relies on its copies.' })
  }
  const unread = answer.blockers.find(({ reason }) => reason === 'ObjectsUnusable')
  if (unread !== undefined) return unknown(unread.explanation.replace(/\.$/u, ''))
  const lasting = answer.blockers.filter((blocker) => isLasting(snapshot, answer.node, blocker))
  const [first] = lasting
  if (first === undefined) return known({ allowed: true, explanation: answer.explanation })
  const more = lasting.length === 1 ? '' : ` And ${lasting.length - 1} more.`
  return known({ allowed: false, explanation: `${first.explanation} ${first.wayOut}${more}`, lasts: true })
}

const lastingReasons: ReadonlySet<string> = new Set([
  'LastReplica',
  'StrictLocalReplica',
  'LinkedCloneReplica',
  'VolumeFaulted',
  'DrainPolicyUnknown',
])

/**
 * Whether it would hold the node however long one waits. What holds only while it runs may stop when the pods of the node leave, but not
 * where whoever uses it is on another node.
 */
function isLasting(snapshot: LonghornSnapshot, node: string, { reason, volume: name }: ReplicaBlocker): boolean {
  if (!lastingReasons.has(reason)) return false
  const volume = volumesByName(snapshot).get(name)
  const intent = snapshot.nodes.find((each) => each.name === node)?.intent
  if (ruleOf({ setting: policyFor(snapshot.settings, intent), volume }) !== 'last-unless-stopped') return true
  return volume?.attachedTo !== undefined && volume.attachedTo !== node
}

/** Every manager of the node is held by all that holds the node. */
function holdsOf(
  { namespace, instanceManagers, holds, longhornBudgets }: LonghornSnapshot,
  answer: NodeAnswer | undefined,
): StorageHold[] {
  if (answer === undefined || answer.blockers.length === 0) return []
  const budgets = instanceManagers
    .filter(({ node }) => node === answer.node)
    .flatMap(({ name }) => [
      ...(longhornBudgets.has(name) ? [name] : []),
      ...(holds.has(name) ? [holdNameOf(name)] : []),
    ])
    .map((name) => `pdb/${namespace}/${name}`)
  if (budgets.length === 0) return []
  return answer.blockers.slice(0, mostHolds).map(({ object, reason, explanation, wayOut }) => {
    return { budgets, object, reason, wayOut: `${explanation} ${wayOut}` }
  })
}

/**
 * Managers with a copy that must not go yet, and that have no budget. Longhorn has let the node go when the copy had stopped, and makes no budget
 * for a cordoned node again, though the volume was attached elsewhere since and the copy runs.
 */
function unguardedHolds(
  { namespace, nodes, instanceManagers, holds, longhornBudgets }: LonghornSnapshot,
  answer: NodeAnswer | undefined,
): StorageHold[] {
  const kept = (answer?.blockers ?? []).filter(({ object }) => object.startsWith('replica/'))
  const isClosed = nodes.some(({ name, isCordoned }) => name === answer?.node && isCordoned)
  if (kept.length === 0 || !isClosed) return []
  const pods = instanceManagers
    .filter(({ node, isRunning, type }) => node === answer?.node && isRunning && type !== 'engine')
    .filter(({ name }) => !longhornBudgets.has(name) && !holds.has(name))
    .map(({ name }) => `${namespace}/${name}`)
  if (pods.length === 0) return []
  return kept.slice(0, mostHolds).map(({ object, reason, explanation, wayOut }) => {
    return { budgets: [], pods, object, reason, wayOut: `${explanation} ${wayOut}` }
  })
}

/** Nothing holds the node, and Longhorn does all the same, for a known cause: that its budget allows nothing is not the reason. */
function stuckHolds(snapshot: LonghornSnapshot, answer: NodeAnswer | undefined): StorageHold[] {
  if (answer === undefined || answer.blockers.length > 0) return []
  const { namespace, instanceManagers, longhornBudgets } = snapshot
  const managers = instanceManagers.filter(({ node, name }) => node === answer.node && longhornBudgets.has(name))
  const budgets = managers.map(({ name, node }) => ({ ...lingers, instanceManager: name, node }))
  return explainLonghornStuck(snapshot, { nodes: [answer], budgets }).map(({ object, reason, explanation, wayOut }) => {
    const keys = managers.map(({ name }) => `pdb/${namespace}/${name}`)
    return { budgets: keys, object, reason, wayOut: `${explanation} ${wayOut}` }
  })
}

const lingers = { wanted: 'absent', hold: 'needless', reason: 'ReplicasProtected', explanation: '' } as const

const mostHolds = 20

function isClean(snapshot: LonghornSnapshot, node: string, awaited: readonly ReplicaView[]): StorageFacts['isClean'] {
  if (awaited.length > 0) return known(false)
  const volumes = new Set(replicasOn(snapshot, node).map(({ volume }) => volume))
  const unread = snapshot.unreadable.find(
    (each) =>
      each.node === node || (each.object.startsWith('volume/') && volumes.has(each.object.slice('volume/'.length))),
  )
  return unread === undefined ? known(true) : unknown(`${unread.object} cannot be read: ${unread.why}`)
}

/** One snapshot is asked about many nodes. */
const replicasByNode = new WeakMap<object, ReadonlyMap<string, readonly ReplicaView[]>>()

function replicasOn({ replicas }: LonghornSnapshot, node: string): readonly ReplicaView[] {
  const byNode = replicasByNode.get(replicas) ?? groupedBy(replicas, (replica) => replica.node)
  replicasByNode.set(replicas, byNode)
  return byNode.get(node) ?? []
}

const namedVolumes = new WeakMap<object, ReadonlyMap<string, VolumeView>>()

function volumesByName({ volumes }: LonghornSnapshot): ReadonlyMap<string, VolumeView> {
  const byName = namedVolumes.get(volumes) ?? new Map(volumes.map((volume) => [volume.name, volume]))
  namedVolumes.set(volumes, byName)
  return byName
}

/** By how much the clocks of machines may differ. */
const skewMs = 60_000

/**
 * Copies of the node that are still to be rebuilt. Only those that Longhorn rebuilds by itself: of volumes that are attached, have a
 * whole copy, and want another one. What had failed before the key was taken is not the work of whoever holds it.
 */
function awaitedCopies({ snapshot, node, heldSinceMs }: LonghornStorageQuestion): readonly ReplicaView[] {
  const candidates = replicasOn(snapshot, node).filter(
    (replica) => replica.isActive && !replica.isBeingDeleted && (replica.failedAt !== '' || isUnused(replica)),
  )
  if (candidates.length === 0) return candidates
  const volumes = volumesByName(snapshot)
  const isGone = (snapshot.nodes.find(({ name }) => name === node)?.kubernetes ?? 'absent') === 'absent'
  return candidates.filter((replica) => {
    const volume = volumes.get(replica.volume)
    if (volume === undefined || !isRebuilding(volume)) return false
    if (isGone) return isBuiltElsewhere(snapshot, replica)
    const failedMs = parseRfc3339(replica.failedAt)
    return heldSinceMs === undefined || failedMs === undefined || failedMs >= heldSinceMs - skewMs
  })
}

function isRebuilding(volume: VolumeView): boolean {
  return volume.state === 'attached' && volume.robustness === 'degraded' && !isBound(volume)
}

function isBuiltElsewhere({ replicas }: LonghornSnapshot, { volume, node }: ReplicaView): boolean {
  return replicas.some(
    (copy) => copy.isActive && copy.volume === volume && copy.node !== node && copy.node !== '' && isUnused(copy),
  )
}

function explainAwaited({ nodes }: LonghornSnapshot, node: string, awaited: readonly ReplicaView[]): string {
  const { name: replica, volume } = awaited[0] as ReplicaView
  const view = nodes.find(({ name }) => name === node)
  const more = awaited.length === 1 ? '' : ` And ${awaited.length - 1} more.`
  const what = `Replica ${replica} of volume ${volume} on node ${node} is not whole again.${more}`
  return `${what} ${view?.isCordoned === true ? 'It is rebuilt when the node is uncordoned.' : 'It is when Longhorn has rebuilt it, there or elsewhere.'}`
}
