import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { type Observed, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate } from './decide.ts'
import { decideRemoval, type LostDeployment, type LostOsds } from './decide-removal.ts'
import { asking, soonest, type UpdatePassDecision } from './pass-end.ts'
import type { UpdatePassSnapshot } from './pass-snapshot.ts'
import { recordSteps } from './record-steps.ts'
import { releaseRecheckSeconds } from './release-check.ts'
import type { UpdateStep } from './steps.ts'

/** No event says that a record is repaired. */
const recheckSeconds = 15

/** Nothing differs and no OSD is restarting, or what was remembered cannot be read. What is left is OSDs that are gone for good. */
export function decideAtRest(pass: UpdatePassSnapshot): UpdatePassDecision {
  const { seen, stored, heard, problems, wakeAfterSeconds } = pass
  const isReadable = stored.problem === undefined
  const removal = isReadable ? decideRemovals(pass) : undefined
  if (removal?.first !== undefined) return asking(removal.first)
  const decision = decideOsdUpdate({ ...seen, ceph: undefined })
  const isForgotten = stored.record.pace !== undefined && decision.record.pace === undefined
  const isRelevant = stored.configMap !== undefined && (stored.reason !== decision.reason || isForgotten)
  const change = { record: decision.record, starts: stored.starts, decision }
  const notes = (heard.removed ?? []).map(noteOf)
  const steps = isRelevant ? recordSteps(stored, seen.cluster, change) : []
  steps.push({ do: 'report', report: 'decision', decision, problems })
  if (notes.length > 0) steps.push({ do: 'report', report: 'removed', notes })
  const recheckAfterSeconds = isReadable ? decision.recheckAfterSeconds : recheckSeconds
  return {
    steps,
    recheckAfterSeconds: soonest(
      recheckAfterSeconds,
      wakeAfterSeconds,
      removal?.recheckAfterSeconds,
      decision.record.release?.lag === undefined ? undefined : releaseRecheckSeconds,
    ),
    isAtRest: true,
  }
}

/** `first`: what is to be asked or written before anything else. */
function decideRemovals({ seen, cluster, removable, deployments, heard }: UpdatePassSnapshot): {
  readonly first?: UpdateStep
  readonly recheckAfterSeconds: number | undefined
} {
  const snapshot = { nowMs: seen.nowMs, cluster: seen.cluster, osds: removable, ...arbiterOf(seen) }
  const ceph = heard.lost && ofCluster(heard.lost, cluster)
  const { ask, remove, recheckAfterSeconds } = decideRemoval({ ...snapshot, ceph })
  if (ask.length > 0 && heard.lost === undefined) {
    return { first: { do: 'ask', ask: 'lost-osds', osds: ask }, recheckAfterSeconds }
  }
  if (remove.length === 0 || heard.removed !== undefined) return { recheckAfterSeconds }
  const lost = remove.flatMap((osd): LostDeployment[] => {
    const metadata = deployments.get(osd)?.metadata
    return metadata === undefined
      ? []
      : [{ osd, namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid }]
  })
  return { first: { do: 'write', write: 'removals', lost }, recheckAfterSeconds }
}

function arbiterOf({ arbiter }: UpdatePassSnapshot['seen']): Pick<UpdatePassSnapshot['seen'], 'arbiter'> {
  return arbiter === undefined ? {} : { arbiter }
}

function noteOf({ osd, name }: LostDeployment): string {
  return `osd.${osd} is down and out, its pod has not been ready for long, and Ceph calls it safe to destroy: Deployment ${name} is removed; Ceph keeps its entry until it is purged`
}

/** Another Ceph under the same name knows nothing of these OSDs. */
function ofCluster(answer: Observed<LostOsds>, { status }: CephCluster): Observed<LostOsds> {
  const fsid = status?.ceph?.fsid
  if (!answer.known || fsid === undefined || fsid === '' || answer.value.fsid === fsid) return answer
  return unknown(`Ceph ${answer.value.fsid} answers, and the CephCluster names ${fsid}`)
}
