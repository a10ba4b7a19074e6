import type { Reason } from '../../../shared/reasons.ts'
import type { CephForUpdate, OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import { secondsOfTurn } from './turn-for-drains.ts'
import { whoComesFirst } from './update-claim.ts'
import { updateRecordName } from './update-record.ts'
import { updateAnnotations } from './update-settings.ts'

/** Why nothing more may start, whatever the placement groups say. */
export interface Gate {
  readonly reason: Reason
  readonly explanation: string
  /** When to reconcile again; infinite when only a change can open it. */
  readonly afterSeconds: number
  /** The gate is about the health of Ceph. An OSD that is down may be updated all the same: that takes nothing away, and may be the cure. */
  readonly allowsDown?: true
  /** Also where nothing is to be updated as far as it can be seen. */
  readonly isSaidAtRest?: true
}

const recheckSeconds = 15
/** The ledger does not notify whoever released it that it is free. */
const soonSeconds = 2
/** A watch that catches up says so by itself. */
const outdatedSeconds = 5
const mostNamed = 5
const never = Number.POSITIVE_INFINITY

/** What stands in the way of any start; the first that does, by how little can be done about it. */
export function firstGate(snapshot: OsdUpdateSnapshot, record: UpdateRecord): Gate | undefined {
  const { cluster, ceph, arbiter, recordProblem } = snapshot
  if (cluster.isBeingDeleted) {
    return gate('ClusterDeleted', `CephCluster ${cluster.namespace}/${cluster.name} is being deleted`, never)
  }
  if (cluster.mode === 'off') return gate('OsdUpdateOff', 'updates of OSDs are switched off', never)
  if (cluster.mode === 'contested') {
    const key = `${cluster.namespace}/${cluster.name}`
    return gate(
      'OwnershipContested',
      `Rook's operator runs, and --own-osds of Cofferdam's operator names ${key}: no OSD Deployment is touched; stop Rook, or take ${key} out of --own-osds`,
      never,
    )
  }
  if (snapshot.isOutdated === true) {
    const { name, objectGeneration = 0 } = cluster
    const outdated = gate(
      'SafetyUnknown',
      `CephCluster ${name} was read in generation ${objectGeneration}, and ConfigMap ${updateRecordName(cluster)} is of generation ${record.writtenFor?.generation}: nothing starts or ends until the API server has caught up`,
      outdatedSeconds,
    )
    return { ...outdated, isSaidAtRest: true }
  }
  if (recordProblem !== undefined) {
    const wayOut = 'repair it, or delete it to start again'
    return gate(
      'UpdateRecordUnreadable',
      `ConfigMap ${updateRecordName(cluster)} cannot be read: ${recordProblem}; ${wayOut}`,
      never,
    )
  }
  if (record.frozen !== undefined) {
    const { osd, why } = record.frozen
    const wayOut = 'the update continues when it is back, or when the CephCluster changes'
    return gate('OsdUpdateFrozen', `osd.${osd} froze the update: ${why}; ${wayOut}`)
  }
  if (ceph?.known !== true) {
    return gate('SafetyUnknown', `nothing starts without Ceph: ${ceph?.why ?? 'it is not polled yet'}`)
  }
  if (arbiter?.known === false) return gate('LedgerUnknown', `who holds the storage is not known: ${arbiter.why}`)
  const first = whoComesFirst(snapshot)
  if (first !== undefined) return gate('StorageKeyHeld', `${first} and is first in the queue`)
  return (
    daemonsGate(cluster) ?? healthGate(cluster, ceph.value) ?? turnGate(snapshot, record) ?? soakGate(snapshot, record)
  )
}

/** Ceph wants its mons and mgrs updated first: newer OSDs may speak what older mons do not understand. */
function daemonsGate({ settings, daemonsBehind = [], isUpgrade }: OsdUpdateSnapshot['cluster']): Gate | undefined {
  if (!isUpgrade || !settings.monsFirst || daemonsBehind.length === 0) return undefined
  const named = daemonsBehind.slice(0, mostNamed).join(', ')
  const more = daemonsBehind.length > mostNamed ? ` and ${daemonsBehind.length - mostNamed} more` : ''
  const wayOut = `update them first, or annotate the CephCluster with ${updateAnnotations.monsFirst}=false`
  return gate('MonsNotUpdated', `mons and mgrs are updated before OSDs: ${named}${more}; ${wayOut}`)
}

function healthGate(
  { settings, isUpgrade }: OsdUpdateSnapshot['cluster'],
  { isHealthy, isClean }: CephForUpdate,
): Gate | undefined {
  if (settings.skipUpgradeChecks) return undefined
  if (isUpgrade && !isHealthy && !settings.continueUpgradeAfterChecksEvenIfNotHealthy) {
    const wayOut =
      'cure it, or set skipUpgradeChecks or continueUpgradeAfterChecksEvenIfNotHealthy in spec.updatePolicy'
    return {
      ...gate('CephUnhealthy', `the health of Ceph is neither HEALTH_OK nor HEALTH_WARN: ${wayOut}`),
      allowsDown: true,
    }
  }
  if (!settings.requiresHealthyPgs || (isClean.known && isClean.value)) return undefined
  const why = isClean.known ? 'they are not' : `that is not known: ${isClean.why}`
  return {
    ...gate('PgsNotClean', `spec.upgradeOSDRequiresHealthyPGs wants all placement groups clean, and ${why}`),
    allowsDown: true,
  }
}

function turnGate({ nowMs }: OsdUpdateSnapshot, { turns }: UpdateRecord): Gate | undefined {
  if (turns?.open === undefined) return undefined
  const { nodes } = turns.open
  const names =
    nodes.length > mostNamed
      ? `${nodes.slice(0, mostNamed).join(', ')} and ${nodes.length - mostNamed} more`
      : nodes.join(', ')
  const left = secondsOfTurn(turns.open, nowMs)
  const what =
    left === undefined
      ? 'nothing starts until the storage is free for a drain'
      : `the storage is left free for ${left} s more, so that a drain can start`
  return gate('DrainFirst', `${names} ${nodes.length === 1 ? 'was' : 'were'} cordoned: ${what}`, left ?? soonSeconds)
}

function soakGate({ nowMs, cluster }: OsdUpdateSnapshot, { lastEndedMs, startedMs }: UpdateRecord): Gate | undefined {
  const { soakSeconds } = cluster.settings
  if (soakSeconds === 0 || lastEndedMs === undefined || startedMs === undefined) return undefined
  const left = Math.ceil((lastEndedMs + soakSeconds * 1000 - nowMs) / 1000)
  if (left <= 0) return undefined
  return gate('OsdUpdateSoaks', `the last round is watched for ${left} s more of ${soakSeconds} s`, left)
}

function gate(reason: Reason, explanation: string, afterSeconds = recheckSeconds): Gate {
  return { reason, explanation, afterSeconds }
}
