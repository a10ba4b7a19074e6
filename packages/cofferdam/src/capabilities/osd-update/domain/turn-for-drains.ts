import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephForUpdate, DrainTurns, OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import { isHeldByOthers, isHeldForUpdate } from './update-claim.ts'

/** For so long the storage is left free: `kubectl drain` tries again every 5 s. */
const turnSeconds = 60
/** With less of a turn left, a node that is cordoned now waits for the next one. */
const enoughSeconds = 30
/** Data can be unclean for days without anybody's OSD being away; no turn waits for that. */
const patienceSeconds = 600

type OpenTurn = NonNullable<DrainTurns['open']>

/**
 * The record with whose turn it is, so that a drain without a place in the queue need not wait for the whole update. A cordon alone
 * does not say whether a drain comes after it, so it gets the storage once and for a short time.
 *
 * Guarantees: a node has one turn until it is open again; only time in which nobody held the storage counts. Nodes that are cordoned
 * at about the same time share a turn. Between two turns everything that can start does, so nodes that are cordoned again and again
 * do not stop an update. A frozen update gives no turn. With nothing new the same record comes back.
 * Assumes: it is written before the storage is released, and before anything starts.
 */
export function withTurns(
  snapshot: OsdUpdateSnapshot,
  record: UpdateRecord,
  given: {
    /** Something is left to start: who has nothing is in nobody's way. */
    readonly isPending: boolean
    readonly isWorking: boolean
    /** OSDs are restarting that nothing but time keeps from coming back. */
    readonly isMoving: boolean
  },
): UpdateRecord {
  if (snapshot.recordProblem !== undefined || record.frozen !== undefined) return record
  const { turns: before, ...rest } = record
  const past = given.isWorking && before !== undefined ? tidy({ had: before.had }) : undefined
  const turns = given.isPending ? nextTurns(snapshot, record, given.isMoving) : past
  return isSameJson(turns, before) ? record : { ...rest, ...(turns !== undefined && { turns }) }
}

function nextTurns(snapshot: OsdUpdateSnapshot, record: UpdateRecord, isMoving: boolean): DrainTurns | undefined {
  const nodes = sortNodes(snapshot, record.turns)
  const asked = askedTurn(snapshot, record, { nodes, isMoving })
  const open = asked && withTime(asked, snapshot, isMoving)
  const isEnded = open !== undefined && isOver(open, snapshot, { record, isMoving })
  return tidy(isEnded ? { had: [...nodes.had, ...open.nodes] } : { had: nodes.had, ...(open && { open }) })
}

interface SortedNodes {
  readonly had: readonly string[]
  /** Nodes of the current turn. */
  readonly inTurn: readonly string[]
  readonly fresh: readonly string[]
}

/** Whoever was to be drained and has no OSD any more needs the storage no longer. */
function sortNodes({ cordonedNodes = [] }: OsdUpdateSnapshot, turns: DrainTurns | undefined): SortedNodes {
  const before = new Set(turns?.had)
  const current = new Set(turns?.open?.nodes)
  const had: string[] = []
  const inTurn: string[] = []
  const fresh: string[] = []
  for (const { name, runsOsds } of cordonedNodes) {
    if (before.has(name)) had.push(name)
    else if (current.has(name)) (runsOsds ? inTurn : had).push(name)
    else if (runsOsds) fresh.push(name)
  }
  return { had, inTurn, fresh }
}

function askedTurn(
  snapshot: OsdUpdateSnapshot,
  { turns, startedMs }: UpdateRecord,
  { nodes: { inTurn, fresh }, isMoving }: { readonly nodes: SortedNodes; readonly isMoving: boolean },
): OpenTurn | undefined {
  const { nowMs } = snapshot
  if (turns?.open !== undefined && inTurn.length > 0) {
    const left = secondsOfTurn(turns.open, nowMs)
    const isTimeEnough = left === undefined || left >= enoughSeconds
    return { ...turns.open, nodes: isTimeEnough ? [...inTurn, ...fresh] : inTurn }
  }
  // Right after a turn the storage is free, and it is the update that goes on.
  const isUpdateFirst = startedMs !== undefined && !isMoving && !isHeldForUpdate(snapshot) && !isHeldByOthers(snapshot)
  return fresh.length === 0 || isUpdateFirst ? undefined : { nodes: fresh, askedMs: nowMs }
}

/** How long the storage is left free yet; undefined while it is not free. */
export function secondsOfTurn({ freeSinceMs }: OpenTurn, nowMs: number): number | undefined {
  return freeSinceMs === undefined ? undefined : Math.ceil((freeSinceMs + turnSeconds * 1000 - nowMs) / 1000)
}

/** Only what nobody holds is free. Time that a clock which runs ahead has noted counts from now. */
function withTime(open: OpenTurn, snapshot: OsdUpdateSnapshot, isMoving: boolean): OpenTurn {
  const { freeSinceMs, ...rest } = open
  const isFree =
    !isMoving &&
    cephOf(snapshot) !== undefined &&
    snapshot.arbiter?.known !== false &&
    !isHeldForUpdate(snapshot) &&
    !isHeldByOthers(snapshot)
  return isFree ? { ...rest, freeSinceMs: Math.min(freeSinceMs ?? snapshot.nowMs, snapshot.nowMs) } : rest
}

function isOver(
  open: OpenTurn,
  snapshot: OsdUpdateSnapshot,
  { record, isMoving }: { readonly record: UpdateRecord; readonly isMoving: boolean },
): boolean {
  const left = secondsOfTurn(open, snapshot.nowMs)
  if (left !== undefined) return left <= 0
  const ceph = cephOf(snapshot)
  if (isMoving || ceph === undefined || !isHeldForUpdate(snapshot)) return false
  if (ceph.isClean.known && ceph.isClean.value) return false
  return snapshot.nowMs - Math.max(open.askedMs, record.lastEndedMs ?? 0) >= patienceSeconds * 1000
}

function cephOf({ ceph }: OsdUpdateSnapshot): CephForUpdate | undefined {
  return ceph?.known === true ? ceph.value : undefined
}

function tidy({ had, open }: DrainTurns): DrainTurns | undefined {
  if (had.length === 0 && open === undefined) return undefined
  return { had: [...new Set(had)].sort(), ...(open && { open: { ...open, nodes: [...open.nodes].sort() } }) }
}
