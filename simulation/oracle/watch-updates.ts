import { watchOsdUpdates } from '../../scenarios/testing/osd-update-oracle.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Blame } from './blame.ts'
import { type Excuses, patienceMs } from './excuses.ts'

/** Who has just read the ledger and the CephCluster acts on both as they are. */
const settledMs = 30_000

/**
 * S14: an update restarts only OSDs that need it, with what the CephCluster wants, no more at once than that allows, and only while it
 * holds the storage and nobody else does. What becomes of placement groups is S1.
 */
export function watchUpdates(
  { ceph, clock, description, views }: Stage,
  { blame }: Blame,
  excuses: Excuses,
): { look(): void; stop(): void } | undefined {
  if (ceph === undefined || description.ceph === undefined) return undefined
  const { namespace, name } = description.ceph
  const updates = watchOsdUpdates({
    views,
    clock,
    namespace,
    name,
    ceph: ceph.controls,
    patienceMs,
    isDataJudged: true,
  })
  let seen = 0
  return {
    look() {
      updates.look()
      const isExcused =
        !excuses.isAttendedFor(settledMs) || excuses.isMeddledWith('ledger') || excuses.isMeddledWith('etcd')
      for (const sentence of updates.violations.slice(seen)) if (!isExcused) blame('S14', sentence)
      seen = updates.violations.length
    },
    stop: updates.stop,
  }
}
