import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { budgetKey, nodeKey } from '../../../ledger/rules/keys.ts'
import type { PodReference } from '../../../shared/object-references.ts'
import { decideCephLast } from './ceph-last.ts'
import { budgetsOver } from './claims.ts'
import { decideLost } from './decide-lost.ts'
import { decideRecovering } from './decide-recovering.ts'
import { decideResponders, withdrawal } from './decide-responders.ts'
import type { DisruptionBlocker, DisruptionDecision, DisruptionStep, DisruptionWarning } from './decision.ts'
import type { DisruptionEnding } from './disruption-ending.ts'
import {
  asReferences,
  bootThatGoes,
  type DisruptionView,
  goOn,
  type HeldKeys,
  hasRebooted,
  missedDeadline,
  ownNode,
  recordSteps,
  referenceTo,
  retryMs,
  withRecord,
  withReferences,
} from './disruption-view.ts'
import { drainBlockers, storageKeeps } from './drain-blockers.ts'
import { keepLocks } from './keep-locks.ts'
import { cordonOnRecord, isCordonToTakeOver } from './own-cordon.ts'
import { type PodPlan, planPods } from './plan-pods.ts'
import { lossBlockers } from './pod-losses.ts'
import { isPatienceOver } from './queue-time.ts'
import type { DisruptionRecord, NodeFacts } from './snapshot.ts'

/** From the written intent until the node is back or gone. */
export function decideActing(view: DisruptionView): DisruptionDecision {
  const { held, snapshot } = view
  const node = ownNode(view)
  const ending = node === undefined ? 'gone' : endingOf(view, node)
  if (held === undefined || !held.hasBegun) return decideLost(view, ending)
  if (node === undefined) return decideRecovering({ ...view, held }, 'gone')
  if (ending !== undefined) return decideRecovering({ ...view, held }, ending)
  const before = actingRecord(view, held, node)
  const plan = planPods({
    seen: snapshot,
    hasFallenBack: before.hasFallenBack,
    bound: before.skippedPods,
    isPatienceOver: isPatienceOver(view),
  })
  const stayed = before.skippedPods.filter(({ uid }) => !plan.leaves.some((pod) => pod.uid === uid))
  const record = withRecord(before, {
    skippedPods: withReferences(asReferences(before.skippedPods, stayed), plan.stays),
  })
  const acting: Acting = { node, plan, held, record }
  const broken = brokenKeys(view, acting)
  if (broken.length > 0) return standStill(view, acting, broken)
  const isEmpty = plan.leaves.length + plan.going.length === 0
  // A cordon that somebody lifted before it was said that the node may go was not lifted to end the drain.
  const isClosed = node.isCordoned && !isCordonToTakeOver(view)
  if (isEmpty && (isClosed || record.phase === 'Drained')) return decideDrained(view, acting)
  return decideDraining(view, acting)
}

interface Acting {
  readonly node: NodeFacts
  readonly plan: PodPlan
  readonly held: HeldKeys
  readonly record: DisruptionRecord
}

function endingOf(view: DisruptionView, node: NodeFacts): DisruptionEnding | undefined {
  const { request, record } = view
  if (request.intent === 'Reboot' && hasRebooted(view, node)) return 'back'
  if (request.isCancelled) return 'cancelled'
  if (record.phase === 'Drained' && !node.isCordoned && node.isReady) return 'given-back'
  if (missedDeadline(view) !== undefined) return 'late'
  if (record.phase === 'Recovering') return 'given-back'
  return record.phase === 'Completed' || record.phase === 'Rejected' ? 'edited' : undefined
}

function decideDraining(view: DisruptionView, acting: Acting): DisruptionDecision {
  const { node, plan, held } = acting
  // A pod may come when the drain has begun, or the request may take back what it agreed to.
  const lost = lossBlockers(view, plan.leaves)
  const [first] = lost
  const responders = decideResponders(view, first === undefined ? plan.leaves : [])
  const { asked, warnings } = responders
  const ceph = decideCephLast(
    { ...view, held },
    {
      evictable: responders.evicted,
      going: plan.going,
      responders: responders.waits,
    },
  )
  const evicted = ceph.evicted.filter((pod) => storageKeeps({ ...view, held }, pod).length === 0)
  const record = withRecord(acting.record, {
    phase: 'Draining',
    cordonedBy: cordonOnRecord(view),
    evictedPods: withReferences(acting.record.evictedPods, plan.going),
  })
  const locks = keepLocks(view, plan, record, held.epoch)
  const steps: DisruptionStep[] = recordSteps(view, locks.record)
  if (!node.isCordoned || isCordonToTakeOver(view)) steps.push({ step: 'cordon' })
  steps.push(...locks.steps)
  if (evicted.length > 0) steps.push({ step: 'evict', pods: evicted.map(referenceTo), epoch: held.epoch })
  const left = plan.leaves.length + plan.going.length
  const explanation = `${left} ${left === 1 ? 'pod has' : 'pods have'} to leave ${node.name}; ${plan.stays.length} ${plan.stays.length === 1 ? 'stays' : 'stay'}.`
  const seenToKeep = drainBlockers(
    { ...view, held },
    first === undefined ? { leaves: ceph.evicted, going: plan.going } : plan,
  )
  const waits = [...responders.waits, ...ceph.waits, ...(ceph.evicted.length === 0 ? [] : seenToKeep)]
  const waited = evicted.length + plan.going.length === 0 ? waits[0] : undefined
  return goOn(view, {
    reason: first?.reason ?? waited?.reason ?? 'PodsLeaving',
    explanation:
      first === undefined ? explanation : `${explanation} Nothing more is evicted until ${first.object} may be lost.`,
    record: locks.record,
    steps,
    ...(asked.length === 0 ? {} : { responders: { ask: asked.map(referenceTo) } }),
    blockedBy: [
      ...(node.isReady ? [] : [awayBlocker(view, acting)]),
      ...lost,
      ...responders.waits,
      ...seenToKeep,
      ...ceph.waits,
    ],
    warnings: warningsOf(view, acting, [...locks.warnings, ...warnings]),
    recheckAfterMs: retryMs,
  })
}

function decideDrained(view: DisruptionView, acting: Acting): DisruptionDecision {
  const { node, plan, held } = acting
  const { request } = view
  const isAway = !node.isReady
  const locks = keepLocks(view, plan, withRecord(acting.record, { phase: 'Drained' }), held.epoch)
  const steps: DisruptionStep[] = [...recordSteps(view, locks.record), ...locks.steps]
  const act = request.intent === 'Reboot' ? 'rebooted' : request.intent === 'Remove' ? 'removed' : 'replaced'
  const mayGo: DisruptionBlocker = {
    ...awayBlocker(view, acting),
    reason: 'NodeMayGo',
    wayOut: `The node can be ${act} now; uncordon it, or delete the request, if it is not to go.`,
  }
  const explanation = isAway
    ? `${node.name} does not answer, and the API has no pod of it that has to leave; that its containers have ended is certain only when the machine is off. Its holds are kept until it is back.`
    : `${node.name} is drained and can be ${act} now.`
  return goOn(view, {
    reason: isAway ? 'NodeAway' : 'NodeMayGo',
    explanation,
    record: locks.record,
    steps,
    blockedBy: [isAway ? awayBlocker(view, acting) : mayGo],
    warnings: warningsOf(view, acting, locks.warnings),
  })
}

function awayBlocker({ request }: DisruptionView, { node, held }: Acting): DisruptionBlocker {
  return {
    object: nodeKey(node.name),
    holder: request.requester === '' ? `nodedisruption/${request.name}` : request.requester,
    since: held.since,
    reason: 'NodeAway',
    wayOut: 'Bring the node back, or delete its Node object if it never returns.',
  }
}

/** Ledger keys of this request were taken away meanwhile: what is left of them is kept, and nothing more is done. */
function standStill(view: DisruptionView, acting: Acting, broken: readonly string[]): DisruptionDecision {
  const { request, ledger } = view
  const locks = keepLocks(view, acting.plan, acting.record, acting.held.epoch)
  return goOn(view, {
    reason: 'LocksBroken',
    explanation: `${broken.join(', ')} was taken from ${request.name} by break-glass; nothing more is evicted from ${request.nodeName}.`,
    record: locks.record,
    steps: [...recordSteps(view, locks.record), ...locks.steps],
    ...withdrawal(view),
    blockedBy: broken.map((key) => {
      const recorded = ledger.broken.findLast((each) => each.key === key)
      return {
        object: key,
        holder: recorded?.by ?? 'somebody',
        since: recorded?.at ?? rfc3339(view.nowMs),
        reason: 'LocksBroken',
        wayOut: `Delete nodedisruption/${request.name}: the node is released, and a new request can be created.`,
      }
    }),
    warnings: warningsOf(view, acting, locks.warnings),
  })
}

/** Keys that the intent was written with and that are not there any more. */
function brokenKeys(view: DisruptionView, { held, plan }: Acting): readonly string[] {
  const { record, ledger, request, snapshot } = view
  const isMissing = (key: string) => !held.entries.some((entry) => entry.key === key)
  const wanted = [nodeKey(request.nodeName)]
  for (const { budget } of plan.locks) {
    const isLocked = record.lockedBudgets.some(
      ({ namespace, name }) => budgetKey({ namespace, name }) === budgetKey(budget),
    )
    if (isLocked) wanted.push(budgetKey(budget))
  }
  for (const { key } of snapshot.storage) {
    if (ledger.broken.some((recorded) => recorded.key === key && recorded.at >= held.since)) wanted.push(key)
  }
  return wanted.filter(isMissing)
}

function actingRecord(view: DisruptionView, held: HeldKeys, node: NodeFacts): DisruptionRecord {
  const { record } = view
  return withRecord(record, {
    epoch: held.epoch,
    nodeUid: node.uid,
    bootIDBefore: bootThatGoes(view) ?? node.bootID,
    cordonedBy: record.phase === 'Drained' ? record.cordonedBy : cordonOnRecord(view),
    skippedPods: record.skippedPods.length > 0 ? record.skippedPods : podsWithKeys(view, held),
  })
}

/** For a record that has lost them: the ledger keys still say for which pods they were taken. */
function podsWithKeys(view: DisruptionView, { entries }: HeldKeys): readonly PodReference[] {
  const { record, snapshot } = view
  if (record.hasFallenBack || !entries.some(({ key }) => key.startsWith('pdb/'))) return record.skippedPods
  const stayed = snapshot.pods.filter((pod) => {
    const [budget, ...more] = pod.wantsToStay && pod.isReady ? budgetsOver(view, pod) : []
    return budget !== undefined && more.length === 0 && entries.some(({ key }) => key === budgetKey(budget))
  })
  return asReferences(record.skippedPods, stayed)
}

function warningsOf(
  view: DisruptionView,
  { plan, node, held }: Acting,
  more: readonly DisruptionWarning[],
): readonly DisruptionWarning[] {
  const unheld = view.snapshot.storage.filter(({ key }) => !held.entries.some((entry) => entry.key === key))
  const isSilent = !node.isReady && plan.going.length > 0
  if (more.length === 0 && unheld.length === 0 && !isSilent) return plan.warnings
  return [
    ...plan.warnings,
    ...more,
    ...unheld.map(({ key }) => ({ object: key, says: 'is not held for the node: its own budgets alone protect it' })),
    ...(isSilent
      ? [{ object: nodeKey(node.name), says: 'its kubelet does not answer, so no pod can finish leaving' }]
      : []),
  ]
}
