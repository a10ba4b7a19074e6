import { idRanges } from './id-ranges.ts'
import { reactionSeconds } from './judge-pace.ts'
import type { PaceState } from './pace-state.ts'
import type { RookPass } from './rook-pass.ts'
import type { CephForUpdate, OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import type { Gate } from './update-gates.ts'

const soonSeconds = 5
const recheckSeconds = 15

/**
 * Why Rook gets no more OSDs to update now.
 *
 * Guarantees: without a gate all OSDs but the open ones are held by a label that every pass of Rook reads which can still come.
 */
export function paceGate(snapshot: OsdUpdateSnapshot, record: UpdateRecord, ceph: CephForUpdate): Gate | undefined {
  const { cluster, rook, rookOperator, osds, isWalking, nowMs } = snapshot
  if (cluster.mode !== 'pace' || isWalking !== true) return undefined
  const { namespace } = cluster
  const log = `kubectl -n ${namespace} logs deploy/rook-ceph-operator`
  if (record.pace === undefined || rook === undefined) return wait('what Rook does is not known yet')
  if (rookOperator?.state === 'stopped') {
    return late("Rook's operator is scaled to zero, and OSDs are updated by it: scale it up")
  }
  if (rook.problem !== undefined) return late(`${rook.problem}: OSDs stay as they are until that ends`)
  const isOpen = new Set(record.pace.open.map(({ osd }) => osd))
  const awaited = osds.filter(({ id, awaitsRook }) => awaitsRook === true && isOpen.has(id)).map(({ id }) => id)
  if (awaited.length > 0) return lateGate(record.pace, rook)
  const exposed = osds.find(({ id, pace }) => pace?.hold === 'none' && !pace.isExempt && !isOpen.has(id))
  if (exposed !== undefined) return wait(`osd.${exposed.id} is not held yet`)
  if (rook.state === 'passing') return wait("a pass of Rook's operator is under way: the next round opens when it ends")
  const { notBeforeMs } = record.pace
  if (notBeforeMs !== undefined && notBeforeMs > nowMs) {
    const left = Math.ceil((notBeforeMs - nowMs) / 1_000)
    return late(
      `Rook's operator did not react to the last round; it is asked again in ${left} s: ${log} says more`,
      left,
    )
  }
  return downGate()

  /** While an OSD is down those that Rook may not stop keep its pass from ending, labelled or not. */
  function downGate(): Gate | undefined {
    const { map, isClean } = ceph
    if (isClean.known && isClean.value) return undefined
    const known = new Set(osds.map(({ id }) => id))
    const down = map.osds.find(({ id, isUp }) => !isUp && known.has(id))
    if (down === undefined) return undefined
    const why = `osd.${down.id} is down and data is not clean: Rook's pass may not end while that is so, and no round is opened`
    return { ...wait(why, recheckSeconds), allowsDown: true }
  }

  function lateGate({ open, pass }: PaceState, { state, failure }: RookPass): Gate | undefined {
    const since = open
      .filter(({ osd }) => awaited.includes(osd))
      .reduce((first, { atMs }) => Math.min(first, atMs), nowMs)
    const seconds = Math.floor((nowMs - since) / 1_000)
    if (seconds < reactionSeconds) return undefined
    const what =
      pass?.isSeen === true || state === 'passing'
        ? `its pass has been under way for long; an OSD that is not ok-to-stop keeps it from ending`
        : failure === undefined
          ? 'it has not begun a pass'
          : `its last pass failed: ${failure}`
    return late(
      `Rook's operator has not updated osd ${idRanges(awaited)} within ${seconds} s: ${what}; ${log} says more`,
      soonSeconds,
    )
  }
}

function late(explanation: string, afterSeconds = recheckSeconds): Gate {
  return { reason: 'RookNotResponding', explanation, afterSeconds }
}

function wait(explanation: string, afterSeconds = soonSeconds): Gate {
  return { reason: 'WaitsForRook', explanation, afterSeconds }
}
