import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { parseBreakGlass } from '../../../ledger/rules/break-glass.ts'
import { breakGlassAnnotation } from '../../../shared/break-glass-annotation.ts'
import { fieldsOfOthers } from '../../../shared/fields-of-others.ts'
import { harmlessData } from '../../../shared/harmless-text.ts'
import { type NodeDisruption, nodeDisruptionStatus } from '../../../shared/kinds/node-disruption.ts'
import { shortExplanation } from '../../../shared/record-limits.ts'
import type { DisruptionPhase, DisruptionRecord, PodLoss, RequestView } from '../domain/snapshot.ts'
import type { RecordWords } from '../domain/steps.ts'
import { createdMs } from '../observe/objects.ts'

export type DisruptionStatus = NonNullable<NodeDisruption['status']>

/** Whether nothing is left to be done for it: it is over, and nothing of ours holds it. */
export const disruptionFinalizer = 'cofferdam.io/disruption'

export function isOver(phase: string | undefined): boolean {
  return phase === 'Completed' || phase === 'Rejected'
}

export function hasFinalizer({ metadata }: NodeDisruption): boolean {
  return metadata.finalizers?.includes(disruptionFinalizer) === true
}

export function parseRequest(object: NodeDisruption): RequestView {
  const { metadata, spec } = object
  const { nodeName, intent, requester = '', reason = '', honourSkipDrain, fallbackAfter, deadline } = spec
  return {
    id: metadata.uid ?? '',
    name: metadata.name,
    nodeName,
    intent,
    requester,
    reason,
    honourSkipDrain,
    accepts: acceptedBy(spec),
    gracePeriodSeconds: gracePeriodOf(spec),
    createdMs: createdMs(metadata),
    fallbackAfterMs: fallbackAfter === undefined ? undefined : parseDuration(fallbackAfter),
    deadlineMs: deadline === undefined ? undefined : parseRfc3339(deadline),
    isCancelled: metadata.deletionTimestamp !== undefined,
    breakGlass: parseBreakGlass(metadata.annotations?.[breakGlassAnnotation]).breakGlass,
    record: parseRecord(object.status ?? {}),
  }
}

/** Fails closed: a request that does not say so agrees to no loss. */
function acceptedBy({ force, deleteEmptyDirData }: NodeDisruption['spec']): readonly PodLoss[] {
  return [
    ...(force === true ? ['force' as const] : []),
    ...(deleteEmptyDirData === true ? ['deleteEmptyDirData' as const] : []),
  ]
}

/** What is no number of seconds leaves each pod its own. */
function gracePeriodOf({ gracePeriodSeconds }: NodeDisruption['spec']): number | undefined {
  const isUsable = Number.isSafeInteger(gracePeriodSeconds) && (gracePeriodSeconds ?? -1) >= 0
  return isUsable ? gracePeriodSeconds : undefined
}

function parseRecord(status: DisruptionStatus): DisruptionRecord {
  const {
    phase = 'Pending',
    epoch,
    lockedAt,
    firstInQueueSince,
    cordonedBy,
    nodeUid,
    bootIDBefore,
    bootIDAfter,
    heardBefore,
  } = status
  return {
    phase: phase satisfies DisruptionPhase,
    epoch,
    lockedBudgets: status.lockedBudgets ?? [],
    releasedBudgets: status.releasedBudgets ?? [],
    skippedPods: status.skippedPods ?? [],
    evictedPods: status.evictedPods ?? [],
    cordonedBy,
    nodeUid,
    bootIDBefore,
    bootIDAfter,
    heardBefore,
    hasFallenBack: status.hasFallenBack === true,
    lockedAtMs: lockedAt === undefined ? undefined : parseRfc3339(lockedAt),
    firstInQueueSinceMs: firstInQueueSince === undefined ? undefined : parseRfc3339(firstInQueueSince),
    firstInQueueMs: (status.firstInQueueSeconds ?? 0) * 1000,
  }
}

const knownFields = Object.keys(nodeDisruptionStatus.shape)
const ownConditions = ['Drained', 'Completed']

/** The status that says all of this. Equal to the one before when nothing differs; what another version noted there stays. */
export function buildStatus(
  object: NodeDisruption,
  record: DisruptionRecord,
  reported: RecordWords,
  nowMs: number,
): DisruptionStatus {
  const { status: before = {}, metadata } = object
  const now = rfc3339(nowMs)
  const { phase, epoch, lockedAtMs, firstInQueueSinceMs, firstInQueueMs, cordonedBy, nodeUid } = record
  const { bootIDBefore, bootIDAfter, heardBefore } = record
  // kubectl prints it as it is, and owners of locks wrote parts of it.
  const words = harmlessData(reported)
  const { blockedBy, warnings } = words
  return {
    ...fieldsOfOthers(before, knownFields),
    observedGeneration: metadata.generation ?? 0,
    phase,
    phaseSince: before.phase === phase && before.phaseSince !== undefined ? before.phaseSince : now,
    ...(epoch === undefined ? {} : { epoch }),
    ...(record.lockedBudgets.length === 0 ? {} : { lockedBudgets: [...record.lockedBudgets] }),
    ...(record.releasedBudgets.length === 0 ? {} : { releasedBudgets: [...record.releasedBudgets] }),
    ...(lockedAtMs === undefined ? {} : { lockedAt: rfc3339(lockedAtMs) }),
    ...(firstInQueueSinceMs === undefined ? {} : { firstInQueueSince: rfc3339(firstInQueueSinceMs) }),
    ...(firstInQueueMs === 0 ? {} : { firstInQueueSeconds: Math.floor(firstInQueueMs / 1000) }),
    ...(record.skippedPods.length === 0 ? {} : { skippedPods: [...record.skippedPods] }),
    ...(record.evictedPods.length === 0 ? {} : { evictedPods: [...record.evictedPods] }),
    ...(cordonedBy === undefined ? {} : { cordonedBy }),
    ...(nodeUid === undefined ? {} : { nodeUid }),
    ...(bootIDBefore === undefined ? {} : { bootIDBefore }),
    ...(bootIDAfter === undefined ? {} : { bootIDAfter }),
    ...(heardBefore === undefined ? {} : { heardBefore }),
    ...(record.hasFallenBack ? { hasFallenBack: true } : {}),
    ...(blockedBy.length === 0
      ? {}
      : {
          blockedBy: blockedBy.map(({ since, pods, ...blocker }) => ({
            ...blocker,
            ...(pods === undefined ? {} : { pods: [...pods] }),
            ...(parseRfc3339(since) === undefined ? {} : { since }),
          })),
        }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    conditions: buildConditions(object, phase, words, now),
  }
}

/** For `kubectl wait`: that the node may go, and that all is over. */
function buildConditions(
  { status: before, metadata }: NodeDisruption,
  phase: DisruptionPhase,
  { reason, explanation }: RecordWords,
  now: string,
): NonNullable<DisruptionStatus['conditions']> {
  const condition = (type: string, isTrue: boolean) => {
    const status = isTrue ? ('True' as const) : ('False' as const)
    const held = before?.conditions?.find((each) => each.type === type)
    const lastTransitionTime = held?.status === status ? held.lastTransitionTime : now
    return {
      type,
      status,
      reason,
      message: shortExplanation(explanation),
      lastTransitionTime,
      observedGeneration: metadata.generation ?? 0,
    }
  }
  const ofOthers = before?.conditions?.filter(({ type }) => !ownConditions.includes(type)) ?? []
  return [condition('Drained', phase === 'Drained'), condition('Completed', phase === 'Completed'), ...ofOthers]
}

/** The reason that was last written down, by whichever process. */
export function reasonOnRecord({ status }: NodeDisruption): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Completed')?.reason
}
