import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { parseBreakGlass } from '../../../ledger/rules/break-glass.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { compareText } from '../../../shared/last-writer.ts'
import { askedByAnnotation } from '../../../shared/made-for.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { DisruptionPhase } from '../domain/snapshot.ts'

/** One request to take a node out, and how far it has come. */
export interface DisruptionAnswer {
  /** The name of the NodeDisruption. */
  readonly request: string
  readonly node: string
  readonly intent: 'Reboot' | 'Remove' | 'Replace'
  readonly requester?: string
  /** The object of another tool that it was made for, as a user finds it: `daemonset/kube-system/kured`. */
  readonly askedBy?: string
  /** Why it is wanted, in the words of the requester. */
  readonly purpose?: string
  readonly phase: DisruptionPhase
  readonly since?: string
  /** A reason of docs/reference/reasons.md: why it is where it is. */
  readonly reason?: string
  readonly explanation: string
  /** Whether it waits for something that others must end. */
  readonly isBlocked: boolean
  readonly blockedBy: readonly DisruptionObstacle[]
  readonly warnings: readonly { readonly object: string; readonly says: string }[]
  /** `shop/orders-0`; they stay on the node. */
  readonly stays: readonly string[]
  readonly evicted: readonly string[]
  /** `shop/orders`; the budgets that are or were locked for the pods that stay. */
  readonly locked: readonly string[]
  readonly cordonedBy?: string
  readonly epoch?: number
  readonly hasFallenBack: boolean
  readonly gracePeriodSeconds?: number
  readonly fallbackAfter?: string
  readonly deadline?: string
  /** How long the node may be away for its reboot. */
  readonly returnWithin?: string
  readonly breakGlass?: { readonly by: string; readonly reason: string; readonly until: string }
  /** Somebody deleted it; what it did is being undone. */
  readonly isCancelled: boolean
}

export interface DisruptionObstacle {
  readonly object: string
  readonly holder: string
  readonly since?: string
  readonly reason: string
  readonly wayOut: string
  /** Pods that cannot leave the node because of it: `shop/web-0`. */
  readonly pods?: readonly string[]
}

/** What a request waits for of its own accord; nobody holds it up. */
const ownWaits: readonly string[] = ['NodeMayGo', 'PodIsLeaving'] satisfies readonly Reason[]

export function isOver({ phase }: Pick<DisruptionAnswer, 'phase'>): boolean {
  return phase === 'Completed' || phase === 'Rejected'
}

/** The request as its record says. */
export function explainDisruption(disruption: NodeDisruption): DisruptionAnswer {
  const { metadata, spec, status = {} } = disruption
  const phase = status.phase ?? 'Pending'
  const condition = latestCondition(status.conditions ?? [])
  const blockedBy = (status.blockedBy ?? []).map(({ since, pods, ...blocker }) => ({
    ...blocker,
    ...(pods === undefined ? {} : { pods }),
    ...(since === undefined ? {} : { since }),
  }))
  const since = status.phaseSince ?? metadata.creationTimestamp
  const { breakGlass } = parseBreakGlass(metadata.annotations?.['cofferdam.io/break-glass'])
  const intent = spec.intent
  return {
    request: metadata.name,
    node: spec.nodeName,
    intent,
    ...optional('requester', spec.requester),
    ...optional('askedBy', metadata.annotations?.[askedByAnnotation]),
    ...optional('purpose', spec.reason),
    phase,
    ...optional('since', since),
    ...optional('reason', condition?.reason),
    explanation: condition?.message || phaseSentences[phase](spec.nodeName, goneWords[intent]),
    isBlocked: !isOver({ phase }) && blockedBy.some(({ reason }) => !ownWaits.includes(reason)),
    blockedBy: isOver({ phase }) ? [] : blockedBy,
    warnings: status.warnings ?? [],
    stays: namesOf(status.skippedPods),
    evicted: namesOf(status.evictedPods),
    locked: stillLocked(status),
    ...optional('cordonedBy', status.cordonedBy),
    ...optional('epoch', status.epoch),
    hasFallenBack: status.hasFallenBack === true,
    ...optional('gracePeriodSeconds', spec.gracePeriodSeconds),
    ...optional('fallbackAfter', spec.fallbackAfter),
    ...optional('deadline', spec.deadline),
    ...optional('returnWithin', spec.returnWithin),
    ...(breakGlass === undefined
      ? {}
      : { breakGlass: { by: breakGlass.by, reason: breakGlass.reason, until: rfc3339(breakGlass.untilMs) } }),
    isCancelled: metadata.deletionTimestamp !== undefined,
  }
}

/** What may be done to a node that is drained. */
export const goneWords = { Reboot: 'rebooted', Remove: 'removed', Replace: 'replaced' } as const

const phaseSentences: Record<DisruptionPhase, (node: string, gone: string) => string> = {
  Pending: (node) => `Request for ${node} is not picked up yet. Is the operator running? (cofferdam status)`,
  Waiting: (node) => `Request for ${node} is queued. It holds nothing while it waits.`,
  Locking: (node) => `Holds for ${node} are acquired. The budgets of the pods that stay are being locked.`,
  Draining: (node) => `${node} is being drained: its pods are evicted.`,
  Drained: (node, gone) => `${node} is drained and can be ${gone} now.`,
  Recovering: (node) => `${node} is back or released. Its pods and storage have not recovered yet.`,
  Completed: (node) => `${node} is back or gone. Nothing is held for it.`,
  Rejected: (node) => `The request for ${node} was abandoned. Nothing is held for it.`,
}

function latestCondition<T extends { readonly lastTransitionTime: string }>(conditions: readonly T[]): T | undefined {
  return conditions.toSorted((a, b) => compareText(b.lastTransitionTime, a.lastTransitionTime))[0]
}

/** While it recovers some are released before the others. */
function stillLocked({ lockedBudgets, releasedBudgets }: NonNullable<NodeDisruption['status']>): string[] {
  const released = namesOf(releasedBudgets)
  return namesOf(lockedBudgets).filter((name) => !released.includes(name))
}

function namesOf(references: readonly { namespace: string; name: string }[] = []): string[] {
  return references.map(({ namespace, name }) => `${namespace}/${name}`)
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value })
}
