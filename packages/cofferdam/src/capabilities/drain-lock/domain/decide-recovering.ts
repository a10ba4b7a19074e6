import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { nodeKey } from '../../../ledger/rules/keys.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { notKnownYet } from './claims.ts'
import { decideEnding, type Ending } from './decide-ending.ts'
import { withdrawal } from './decide-responders.ts'
import type { DisruptionBlocker, DisruptionDecision, DisruptionStep } from './decision.ts'
import type { DisruptionEnding } from './disruption-ending.ts'
import {
  type DisruptionView,
  goOn,
  type HeldView,
  hasRebooted,
  missedDeadline,
  ownNode,
  recordSteps,
  retryMs,
  withRecord,
} from './disruption-view.ts'
import { keepLocks } from './keep-locks.ts'
import { isOwnCordon, withLiftedCordon } from './own-cordon.ts'
import { planPods, podName } from './plan-pods.ts'
import { releaseBudgets, withoutReleased } from './release-budgets.ts'
import type { DisruptionRecord, NodeFacts, PodFacts } from './snapshot.ts'

/**
 * From the node's return, or from when no request wants it gone any more, until nothing of it is felt: it takes pods again
 * as soon as it is there, and the keys are held until the pods that stayed run and storage is clean.
 */
export function decideRecovering(view: HeldView, ending: DisruptionEnding): DisruptionDecision {
  const { held, snapshot } = view
  const node = ownNode(view)
  const record = recoveringRecord(view)
  const blockedBy = effectsLeft(view)
  const [first] = blockedBy
  if (first === undefined) return decideRecovered(view, ending)
  const plan = planPods({
    seen: snapshot,
    hasFallenBack: record.hasFallenBack,
    bound: record.skippedPods,
    isPatienceOver: false,
  })
  const isAway = blockedBy.some(({ reason }) => reason === 'NodeAway' || reason === 'NodeUnheard')
  const released = isAway ? { record, steps: [] } : releaseBudgets(view, record, recoveringPods(view))
  const locks = keepLocks(
    view,
    { ...plan, locks: withoutReleased(plan.locks, released.record) },
    released.record,
    held.epoch,
  )
  const steps: DisruptionStep[] = recordSteps(view, locks.record)
  if (node?.isReady === true && node.isCordoned && isOwnCordon(view)) steps.push({ step: 'uncordon' })
  steps.push(...locks.steps, ...released.steps)
  return goOn(view, {
    reason: first.reason,
    explanation: `${endingWords(view, ending).explanation} Its holds are kept until ${first.object} has recovered.`,
    record: locks.record,
    steps,
    ...withdrawal(view),
    blockedBy,
    warnings: locks.warnings,
    // Others wait for the key, and no event says that storage has become clean, or that the node was heard of.
    ...(blockedBy.some(({ reason }) => unannounced.includes(reason)) ? { recheckAfterMs: retryMs } : {}),
  })
}

const unannounced: readonly Reason[] = ['StorageRecovering', 'NodeUnheard']

/** Nothing of the disruption is felt any more. */
export function decideRecovered(view: DisruptionView, ending: DisruptionEnding): DisruptionDecision {
  const record = recoveringRecord(view)
  const words = endingWords(view, ending)
  return mayStillGo(view) ? takeBackTheWord(view, record, words) : decideEnding({ ...view, record }, words)
}

/** Whoever waits for the node reads on record that it may go, and may be about to take down whichever has its name. */
function mayStillGo({ request, snapshot }: DisruptionView): boolean {
  return request.record.phase === 'Drained' && snapshot.node !== undefined
}

/** Nothing is released on what was seen while the node might still go: that is read again afterwards. */
function takeBackTheWord(view: DisruptionView, record: DisruptionRecord, words: Ending): DisruptionDecision {
  const { reason, explanation } = words
  return goOn(view, { reason, explanation, record, steps: recordSteps(view, record), ...withdrawal(view) })
}

/** What is still felt of the disruption. */
export function effectsLeft(view: DisruptionView): DisruptionBlocker[] {
  const { snapshot, held, request } = view
  const node = ownNode(view)
  const since = held?.since ?? rfc3339(request.createdMs)
  const blockers: DisruptionBlocker[] = []
  if (node !== undefined && !node.isReady) {
    const wayOut = 'Bring the node back, or delete its Node object if it never returns.'
    blockers.push({ object: nodeKey(node.name), holder: node.name, since, reason: 'NodeAway', wayOut })
  }
  if (isUnheard(view)) {
    const wayOut = 'Its kubelet reports every ten seconds. If the machine is off, bring it back.'
    blockers.push({ object: nodeKey(request.nodeName), holder: request.nodeName, since, reason: 'NodeUnheard', wayOut })
  }
  for (const pod of recoveringPods(view)) {
    const wayOut = 'It has to become ready. Delete it if it cannot.'
    blockers.push({ object: podName(pod), holder: request.nodeName, since, reason: 'PodsRecovering', wayOut })
  }
  const heldStorage = (held?.entries ?? []).filter(({ key }) => key.startsWith('storage/'))
  const unseen = heldStorage.filter(({ key }) => !snapshot.storage.some((storage) => storage.key === key))
  for (const { key, scope } of unseen) {
    const wayOut =
      'The state of this storage is not known. Its hold is released when the storage is clean, or by break-glass.'
    blockers.push({ object: key, holder: `failure domain ${scope}`, since, reason: 'SafetyUnknown', wayOut })
  }
  for (const { key, failureDomain, isClean, awaited } of snapshot.storage) {
    if (isClean.known && isClean.value) continue
    const common = { object: key, holder: `failure domain ${failureDomain}`, since }
    if (isClean.known) {
      const wayOut = awaited ?? 'It is clean when all data is in place again.'
      blockers.push({ ...common, reason: 'StorageRecovering', wayOut })
    } else blockers.push({ ...common, reason: 'SafetyUnknown', wayOut: notKnownYet(isClean.why) })
  }
  return blockers
}

/** Pods that stayed and do not run again. */
function recoveringPods(view: DisruptionView): readonly PodFacts[] {
  const { snapshot, record } = view
  // A Node that was deleted and made again while its machine ran keeps its pods.
  const isHeardOf = ownNode(view) !== undefined || snapshot.node?.isReady === true
  return snapshot.pods.filter((pod) => {
    const hasStayed = record.skippedPods.some(({ uid }) => uid === pod.uid)
    if (!hasStayed || pod.kind !== 'ordinary') return false
    // Without any Node of its name it runs on, is not heard of, and is removed soon: nothing may go beside it before that.
    return !isHeardOf || !(pod.isReady || pod.isLeaving)
  })
}

/**
 * Nothing was heard of the node since it was no longer said that it may go: its machine may be on its way down, which Kubernetes notices after
 * 40 seconds.
 */
function isUnheard(view: DisruptionView): boolean {
  const { heardBefore } = view.record
  const node = ownNode(view)
  if (heardBefore === undefined || node?.isReady !== true) return false
  return node.heard === heardBefore && !hasRebooted(view, node)
}

function recoveringRecord(view: DisruptionView): DisruptionRecord {
  const { snapshot, held } = view
  const node = ownNode(view)
  const lifted = withLiftedCordon(view)
  const { evictedPods } = lifted
  const stillThere = evictedPods.filter(({ uid }) => snapshot.pods.some((pod) => pod.uid === uid && !pod.isLeaving))
  return withRecord(lifted, {
    phase: 'Recovering',
    ...(held === undefined ? {} : { epoch: held.epoch }),
    ...(node === undefined ? {} : returnOf(view, node)),
    ...(stillThere.length === 0 ? {} : { evictedPods: evictedPods.filter((pod) => !stillThere.includes(pod)) }),
  })
}

/** That it has rebooted, or what was last heard of it while it might still go. */
function returnOf(view: DisruptionView, node: NodeFacts): Partial<DisruptionRecord> {
  if (hasRebooted(view, node)) return { bootIDAfter: node.bootID }
  return mayStillGo(view) ? { heardBefore: node.heard } : {}
}

function endingWords(view: DisruptionView, ending: DisruptionEnding): Ending {
  const { request, record } = view
  const { name, nodeName } = request
  if (request.isCancelled) {
    const explanation = `${name} was deleted; ${nodeName} is being released.`
    return { phase: 'Rejected', reason: 'DisruptionCancelled', explanation }
  }
  if (ending === 'late') {
    const explanation = `${name} missed its deadline ${rfc3339(missedDeadline(view) as number)}; ${nodeName} is being released.`
    return { phase: 'Rejected', reason: 'DeadlinePassed', explanation }
  }
  if (record.phase === 'Rejected') {
    const explanation = `${name} was rejected while it held locks; ${nodeName} is being released.`
    return { phase: 'Rejected', reason: 'DisruptionRejected', explanation }
  }
  const explanation = `${nodeName} is ${ending === 'gone' ? 'gone' : ending === 'back' ? 'back' : 'released'}.`
  return { phase: 'Completed', reason: 'DisruptionCompleted', explanation }
}
