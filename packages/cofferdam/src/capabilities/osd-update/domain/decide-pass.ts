import { decideOsdUpdate, needsCeph } from './decide.ts'
import { decideAtRest } from './decide-at-rest.ts'
import { paceFirst } from './decide-pace.ts'
import { decideAfterStarts, decideStarts } from './decide-starts.ts'
import type { OsdUpdateDecision } from './decision.ts'
import { asking, closing, needsHold, notesOf, soonest, type UpdatePassDecision } from './pass-end.ts'
import type { UpdatePassSnapshot } from './pass-snapshot.ts'
import { checkRelease, isLabelDue, isReleaseCheckDue, relabelled, releaseRecheckSeconds } from './release-check.ts'
import type { CephForUpdate } from './snapshot.ts'
import { upOsds } from './sort-osds.ts'
import type { UpdateStep } from './steps.ts'

/**
 * What a pass over one cluster does next, in this order: ask Ceph for its map; let it name a batch where the settings leave it the
 * choice; hold the storage; ask Ceph whether exactly those may stop that are to be stopped; put the starts on record; start them;
 * put on record what came of them; release or renew the hold; report. Where OSDs are paced beside Rook, labels come before all that. What is asked ends the list: the answer is in the next
 * snapshot, with Kubernetes read anew, so that what went down while Ceph was asked is not taken for running.
 *
 * Guarantees: nothing is started but what `decideOsdUpdate` lets start, with the claim held, Ceph's yes to exactly these and those on
 * their way heard after that, and the starts on record. The storage is released after everything else is written.
 */
export function decideUpdatePass(pass: UpdatePassSnapshot): UpdatePassDecision {
  const { seen, heard } = pass
  if (heard.begun !== undefined) return decideAfterStarts(pass, heard.begun)
  if (seen.isOutdated === true) return waitingForServer(pass)
  const first = paceFirst(pass)
  if (first !== undefined) return asking(...first)
  if (heard.hasMap !== true) {
    const isAtRest = seen.recordProblem !== undefined || !needsCeph(seen)
    return isAtRest ? decideAtRest(pass) : asking({ do: 'ask', ask: 'map' })
  }
  const decision = decideOsdUpdate(seen)
  if (decision.ask !== undefined) return asking({ do: 'ask', ask: 'batch', question: decision.ask })
  return decision.start.length > 0 ? decideStarts(pass, decision) : decideWithoutStarts(pass, decision)
}

/** By what is seen the update could be turned back, and what is on record of it forgotten. */
function waitingForServer({ seen, problems }: UpdatePassSnapshot): UpdatePassDecision {
  const decision = decideOsdUpdate({ ...seen, ceph: undefined })
  const { recheckAfterSeconds } = decision
  return { steps: [{ do: 'report', report: 'decision', decision, problems }], recheckAfterSeconds, isAtRest: true }
}

function decideWithoutStarts(pass: UpdatePassSnapshot, decided: OsdUpdateDecision): UpdatePassDecision {
  const { seen, heard, deployments } = pass
  const { running, waiting } = decided.progress
  const isAtRest = seen.cluster.mode !== 'off' && running.length + waiting === 0
  const isCheckDue = isReleaseCheckDue(decided.record, seen.nowMs)
  const isOwn = seen.cluster.mode === 'own'
  const isAsked =
    isAtRest && seen.ceph?.known === true && (isCheckDue || (isOwn && isLabelDue(deployments, upOsds(seen.ceph.value))))
  if (isAsked && heard.versions === undefined) return asking({ do: 'ask', ask: 'osd-versions' })
  const versions = isAsked && heard.versions?.known === true ? heard.versions.value : undefined
  const decision = versions === undefined || !isCheckDue ? decided : withRelease(decided, seen, versions)
  const end = closing(pass, {
    decision,
    notes: notesOf(pass.stored.starts, running, decision),
    // The hold was acquired for a start that is not wanted any more.
    isIdle: pass.heard.hold?.isAcquired === true && running.length === 0,
  })
  const labelled = versions !== undefined && isOwn ? relabelled(deployments, versions) : []
  const labels: UpdateStep[] =
    labelled.length === 0 ? [] : [{ do: 'write', write: 'version-labels', deployments: labelled }]
  return {
    ...end,
    steps: [...needsHold(pass, decision), ...labels, ...end.steps],
    recheckAfterSeconds: soonest(
      end.recheckAfterSeconds,
      isAsked && versions === undefined ? releaseRecheckSeconds : undefined,
    ),
  }
}

/** Assumes: Ceph has answered. */
function withRelease(
  decision: OsdUpdateDecision,
  { ceph, nowMs }: UpdatePassSnapshot['seen'],
  versions: ReadonlyMap<number, string>,
): OsdUpdateDecision {
  const { value } = ceph as { readonly value: CephForUpdate }
  return { ...decision, record: { ...decision.record, release: checkRelease(value, versions, nowMs) } }
}
