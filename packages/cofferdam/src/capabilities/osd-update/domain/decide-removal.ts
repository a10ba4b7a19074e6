import type { Observed } from '../../../shared/observed.ts'
import type { OsdUpdateSnapshot } from './snapshot.ts'
import { whoComesFirst } from './update-claim.ts'

/** Everything that is seen before the Deployment of an OSD that is gone for good is removed. */
export interface RemovalSnapshot extends Pick<OsdUpdateSnapshot, 'nowMs' | 'cluster' | 'arbiter'> {
  readonly osds: readonly RemovableOsd[]
  /** Asked only about those whose grace is over; undefined before. */
  readonly ceph: Observed<LostOsds> | undefined
}

export interface RemovableOsd {
  readonly id: number
  /** When its Deployment was created; undefined when that is not known. */
  readonly createdMs: number | undefined
  /** Since when its pod has not been ready without a break; undefined while it is ready. */
  readonly unreadySinceMs: number | undefined
  /** Somebody has something in mind with it: it is being replaced or migrated, or nobody may touch it. */
  readonly isSpokenFor: boolean
}

export interface LostOsds {
  readonly fsid: string
  readonly downAndOut: ReadonlySet<number>
  /** OSDs among them that Ceph itself calls safe to destroy. */
  readonly safe: ReadonlySet<number>
}

export interface RemovalDecision {
  /** Ceph has to say something about these first. */
  readonly ask: readonly number[]
  readonly remove: readonly number[]
  /** When to reconcile again although nothing changed. */
  readonly recheckAfterSeconds: number | undefined
}

/** The Deployment of an OSD that is gone for good. */
export interface LostDeployment {
  readonly osd: number
  readonly namespace: string
  readonly name: string
  readonly uid: string | undefined
}

/** A pod that comes and goes is not gone. */
const unreadyGraceMs = 10 * 60_000
/** A new OSD may take its time to come up for the first time. */
const newGraceMs = 60 * 60_000
/** No event says when Ceph has moved the last data away. */
const recheckSeconds = 60

const nothing: RemovalDecision = { ask: [], remove: [], recheckAfterSeconds: undefined }

/**
 * Which OSD Deployments go because their OSDs are gone for good. What Ceph has on record of the OSD stays, as does the disk: so it
 * can still be brought back, or purged by hand.
 *
 * Guarantees: nothing is removed unless the setting is on and the Deployments are ours; only an OSD that is down and out, that Ceph
 * calls safe to destroy, and whose pod has not been ready for a while; nothing while somebody holds or awaits the storage.
 * Assumes: nothing is being updated.
 * Fails closed: what is not known about Ceph or the ledger removes nothing.
 */
export function decideRemoval(snapshot: RemovalSnapshot): RemovalDecision {
  const { cluster, osds, nowMs, ceph, arbiter } = snapshot
  const isOurs = cluster.mode === 'own' && !cluster.isBeingDeleted
  if (!isOurs || !cluster.settings.removeIfOutAndSafeToDestroy) return nothing
  const unready = osds.filter(({ unreadySinceMs, isSpokenFor }) => unreadySinceMs !== undefined && !isSpokenFor)
  if (unready.length === 0) return nothing
  const isFree = arbiter === undefined || (arbiter.known && whoComesFirst({ cluster, arbiter }) === undefined)
  if (!isFree) return { ...nothing, recheckAfterSeconds: recheckSeconds }
  const waits = unready.map((osd) => ({ id: osd.id, leftMs: graceLeftMs(osd, nowMs) }))
  const ask = waits.filter(({ leftMs }) => leftMs <= 0).map(({ id }) => id)
  const lost = ceph?.known === true ? ceph.value : undefined
  const remove = lost === undefined ? [] : ask.filter((id) => lost.downAndOut.has(id) && lost.safe.has(id))
  const soonestMs = waits.reduce((soonest, { leftMs }) => (leftMs > 0 ? Math.min(soonest, leftMs) : soonest), Infinity)
  const isWaiting = ask.length > remove.length
  const seconds = Math.min(Math.ceil(soonestMs / 1_000), isWaiting ? recheckSeconds : Infinity)
  return { ask, remove, recheckAfterSeconds: Number.isFinite(seconds) ? seconds : undefined }
}

/** Infinite while it is not known how old it is. */
function graceLeftMs({ createdMs, unreadySinceMs }: RemovableOsd, nowMs: number): number {
  if (createdMs === undefined || unreadySinceMs === undefined) return Number.POSITIVE_INFINITY
  return Math.max(unreadySinceMs + unreadyGraceMs, createdMs + newGraceMs) - nowMs
}
