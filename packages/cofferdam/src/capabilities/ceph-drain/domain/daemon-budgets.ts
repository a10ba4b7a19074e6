import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { daemonIdLabel } from './cluster-objects.ts'
import type { DaemonView, ServiceDaemonView } from './snapshot.ts'
import type { StorageTurn } from './storage-turn.ts'

/** The budget of daemons that go after the OSDs beside them: of the mons, of the mgrs, of a service that cannot move. */
export interface DaemonBudget {
  readonly maxUnavailable: number
  /** Whether OSDs beside them have a say; if not, a number protects them. */
  readonly isFollowing: boolean
  /** Ids of those that it leaves out: they may go. */
  readonly exempt: readonly string[]
  /** Nodes whose daemon may go, or may just have gone unseen; undefined when that is not known. */
  readonly loose: readonly string[] | undefined
  /** For the next decision, once this one is written. */
  readonly memory?: DaemonBudgetMemory
  /** By node: since when its OSDs have a head start. */
  readonly headStarts?: HeadStarts
  readonly recheckAfterMs?: number
}

/** Nodes whose daemon could go until just now, and when that ended. */
export interface DaemonBudgetMemory {
  readonly withdrawn: readonly string[]
  readonly withdrawnAtMs: number
}

export type HeadStarts = Readonly<Record<string, number>>

/** What mons and mgrs have to do with the OSDs on their nodes. */
export interface BesideOsds {
  readonly daemons: readonly DaemonView[]
  /** Undefined until it was decided about OSDs. */
  readonly turn: StorageTurn | undefined
  /** Nodes that are being drained. */
  readonly leavingNodes: ReadonlySet<string>
  readonly nowMs: number
  /** By budget, as `daemonBudgets` of the decision has them. */
  readonly memory: Readonly<Record<string, DaemonBudgetMemory>>
  /** Of the last decision about mons. */
  readonly headStarts?: HeadStarts
  readonly services?: readonly ServiceDaemonView[]
}

/** An eviction that was granted just before is seen by then. */
const settleMs = 3_000
/** For how long one of several that wait is preferred; drains ask every few seconds. */
const shareMs = 30_000
/**
 * For how long a mon waits until the OSDs of its node have left. Drains ask again every 5 seconds and an OSD takes some to stop; one that is
 * not drained at all, because the node only reboots, keeps its mon no longer.
 */
const headStartMs = 20_000

/**
 * Decides which mons, mgrs or daemons of one service may be evicted.
 *
 * Where none of them runs beside OSDs that must stay, a number says it, as Rook's budget does. Elsewhere all are held but
 * those whose node is being emptied and may be, and no more of them than may be away. Mons give the OSDs beside them a head start: an OSD
 * that leaves tells a mon, and while mons elect nobody hears it, so that clients wait for an OSD that has gone.
 *
 * Guarantees: a daemon beside an OSD that may not go is held; no more are left out than may be away, those included that
 * could go just before.
 * Fails closed: until it was decided about OSDs, nothing is loosened.
 */
export function decideDaemonBudget(given: {
  readonly daemons: readonly Pick<DaemonView, 'id' | 'nodeName' | 'isReady'>[]
  readonly recalled: DaemonBudgetMemory | undefined
  /** How many a plain budget lets go. */
  readonly free: number
  /** How many may be away at most. */
  readonly most: number
  /** Ids of those that are out, whatever Kubernetes says. */
  readonly out: readonly string[]
  readonly present: PodDisruptionBudget | undefined
  readonly beside: BesideOsds | undefined
  /** Whether the OSDs of a node leave before it; if not, together with it. */
  readonly isAfterOsds?: boolean
}): DaemonBudget {
  const { daemons: all, recalled, free, most, out, present, beside, isAfterOsds = false } = given
  if (beside === undefined) return { maxUnavailable: free, isFollowing: false, exempt: [], loose: [] }
  const { turn, leavingNodes, nowMs } = beside
  const before = parseExempt(present)
  const isClosed = present?.spec?.maxUnavailable === 0
  if (turn === undefined) {
    const maxUnavailable = present?.spec?.maxUnavailable
    const isFollowing = present?.spec?.minAvailable === undefined
    const isUsable = typeof maxUnavailable === 'number'
    return { maxUnavailable: isUsable ? maxUnavailable : 0, isFollowing, exempt: before, loose: undefined }
  }
  const running = all.filter(({ id, isReady }) => isReady && !out.includes(id))
  const isHeld = ({ nodeName }: Pick<DaemonView, 'nodeName'>) =>
    nodeName === undefined || Object.hasOwn(turn.heldNodes, nodeName)
  const nodesOf = (ids: readonly string[]) =>
    running.flatMap(({ id, nodeName }) => (nodeName !== undefined && ids.includes(id) ? [nodeName] : []))
  if (!running.some(isHeld)) {
    const loose = free > 0 ? running.map(({ id }) => id) : []
    return { maxUnavailable: free, isFollowing: false, exempt: [], loose: nodesOf(loose) }
  }

  const away = new Set([...out, ...all.filter(({ isReady }) => !isReady).map(({ id }) => id)]).size
  const leaving = running.flatMap((daemon) => {
    const { id, nodeName } = daemon
    return nodeName === undefined || isHeld(daemon) || !leavingNodes.has(nodeName) ? [] : [{ id, nodeName }]
  })
  const headStarts = isAfterOsds ? headStartsOf(beside, turn, nodesOf(leaving.map(({ id }) => id))) : {}
  const isLater = ({ id, nodeName }: (typeof leaving)[number]) =>
    nowMs - (headStarts[nodeName] ?? Number.NEGATIVE_INFINITY) < headStartMs && !(isClosed && before.includes(id))
  const mayGo = leaving
    .filter((daemon) => !isLater(daemon))
    .map(({ id }) => id)
    .sort()
  const allowed = Math.max(0, most - away)
  const isContested = allowed > 0 && mayGo.length > allowed
  // Whoever is asked for is not known here, and a node may be cordoned for long: each gets its time.
  const first = isContested ? Math.floor(nowMs / shareMs) % mayGo.length : 0
  const wanted = [...mayGo.slice(first), ...mayGo.slice(0, first)].slice(0, allowed)
  const wasLoose = isClosed ? before : present === undefined ? [] : running.map(({ id }) => id)
  const withdrawn = wasLoose.filter((id) => !wanted.includes(id) && running.some((daemon) => daemon.id === id))
  const remembered = recalled && { ...recalled, withdrawnAtMs: noLater(recalled.withdrawnAtMs, nowMs) }
  const isRecent = remembered !== undefined && nowMs - remembered.withdrawnAtMs < settleMs
  const memory = withdrawn.length > 0 ? { withdrawn, withdrawnAtMs: nowMs } : isRecent ? remembered : undefined
  const rechecks = [
    ...leaving.filter(isLater).map(({ nodeName }) => (headStarts[nodeName] as number) + headStartMs - nowMs),
    ...(memory === undefined ? [] : [settleMs]),
    ...(isContested ? [shareMs] : []),
  ]
  const exempt = memory === undefined && isClosed ? wanted : wanted.filter((id) => isClosed && before.includes(id))
  return {
    maxUnavailable: 0,
    isFollowing: true,
    exempt: [...exempt].sort(),
    loose: nodesOf([...new Set([...exempt, ...(memory?.withdrawn ?? [])])]),
    ...(memory === undefined ? {} : { memory }),
    ...(Object.keys(headStarts).length === 0 ? {} : { headStarts }),
    ...(rechecks.length === 0 ? {} : { recheckAfterMs: Math.min(...rechecks) }),
  }
}

/** A clock that was turned back begins to count again: else a mon would be held until it has caught up. */
function noLater(sinceMs: number, nowMs: number): number {
  return Math.min(sinceMs, nowMs)
}

/** Of nodes that are being emptied, with OSDs that may go and have not gone. */
function headStartsOf(
  { headStarts = {}, nowMs }: BesideOsds,
  { openNodes }: StorageTurn,
  nodes: readonly string[],
): HeadStarts {
  return Object.fromEntries(
    nodes.filter((node) => openNodes.includes(node)).map((node) => [node, noLater(headStarts[node] ?? nowMs, nowMs)]),
  )
}

/** Whom the budget leaves out. */
export function parseExempt(budget: PodDisruptionBudget | undefined): readonly string[] {
  const { matchExpressions = [] } = budget?.spec?.selector ?? {}
  const [only, ...more] = matchExpressions
  if (only?.key !== daemonIdLabel || only.operator !== 'NotIn' || more.length > 0) return []
  return only.values ?? []
}
