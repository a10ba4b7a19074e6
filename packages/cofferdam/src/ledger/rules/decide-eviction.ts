import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { appLockAnnotation } from '../../shared/app-lock-annotation.ts'
import { holdPrefix } from '../../shared/exchanged-budget.ts'
import type { BudgetReference, PodReference } from '../../shared/object-references.ts'
import type { Observed } from '../../shared/observed.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { AppLock } from './app-lock.ts'
import { type BreakGlass, isBreakingGlass } from './break-glass.ts'
import { budgetKey, nodeKey } from './keys.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { heldElsewhere } from './storage-elsewhere.ts'

/** Everything that is seen before one eviction is let through or refused. */
export interface EvictionSnapshot {
  readonly nowMs: number
  /** As the Eviction names it. */
  readonly target: { readonly namespace: string; readonly name: string }
  /** Undefined: there is no such pod, and the API server will say so. */
  readonly pod: Observed<EvictionPod | undefined>
  /** The budgets that cover it. */
  readonly budgets: Observed<readonly EvictionBudget[]>
  readonly ledger: Observed<Ledger>
  /** From the annotation of the Eviction: for whom it is asked. */
  readonly token: EvictionToken | undefined
  /** Who asks, as the API server knows them. */
  readonly asker: string
  /** As whom the operator asks: everybody can read a token, so it counts for that user alone. */
  readonly operatorUser: Observed<string>
  /** Break-glass override of the request that the token names. */
  readonly breakGlass: BreakGlass | undefined
  /** The namespace holds an active lock, so what cannot be known counts as held. */
  readonly isStrict: boolean
  /** Gets the same answer. */
  readonly dryRun: boolean
}

export interface EvictionPod extends PodReference {
  readonly nodeName: string
  readonly isLeaving: boolean
  /** False before it has started and once it has finished. */
  readonly isCounted: boolean
  /** Of an OSD, or of the OSDs beside a mon or mgr, by the labels of their places. Absent for all others. */
  readonly failureDomains?: readonly string[]
}

export interface EvictionBudget extends BudgetReference {
  readonly appLock: AppLock | undefined
  /** One of those that are put up and taken down while a failure domain of storage is away. */
  readonly isExchanged?: boolean
}

export interface EvictionToken {
  readonly requestId: string
  readonly epoch: number
}

export type EvictionVerdict = { readonly allowed: true; readonly reason: Reason } | EvictionRefusal

export interface EvictionRefusal {
  readonly allowed: false
  readonly reason: Reason
  /** Who holds it, why and since when. */
  readonly why: string
  /** What ends it. */
  readonly ends: string
  /** Both as one sentence; drains print it. */
  readonly message: string
  /** What stands in the way, by key. */
  readonly cause: string
  readonly holder: string
  /** RFC 3339; absent when it is not known. */
  readonly since?: string
  /** RFC 3339; absent when the end is not known. */
  readonly until?: string
}

const allow = (reason: Reason): EvictionVerdict => ({ allowed: true, reason })

/**
 * Decides whether one pod may be evicted now.
 *
 * Guarantees: total; depends on nothing but the snapshot; a pod that no budget counts on is never held up.
 * Fails closed in namespaces that hold a lock, and open elsewhere: there the budget itself is the floor.
 */
export function decideEviction(snapshot: EvictionSnapshot): EvictionVerdict {
  const { pod, budgets, ledger, token } = snapshot
  if (pod.known) {
    if (pod.value === undefined) return allow('PodNotCounted')
    if (pod.value.isLeaving) return allow('PodIsLeaving')
    if (!pod.value.isCounted) return allow('PodNotCounted')
  }
  if (budgets.known) {
    const locked = budgets.value.find(({ appLock }) => appLock !== undefined && appLock.untilMs > snapshot.nowMs)
    if (locked?.appLock !== undefined && !mayBreakGlass(snapshot))
      return refuseAppLocked(snapshot, locked, locked.appLock)
  }
  if (token !== undefined && ledger.known && !isInForce(ledger.value, token))
    return refuseVoidToken(snapshot, token, ledger.value)
  if (budgets.known && budgets.value.length === 0) return allow('NoBudget')
  if (budgets.known && budgets.value.length > 1 && budgets.value.some(({ isExchanged }) => isExchanged === true)) {
    return refuseExchanged(snapshot, budgets.value)
  }
  if (!pod.known) return withoutKnowing(snapshot, pod.why)
  if (!budgets.known) return withoutKnowing(snapshot, budgets.why)
  if (!ledger.known) return withoutKnowing(snapshot, ledger.why)
  const worthless = whyTokenIsWorthless(snapshot)
  const { failureDomains = [], namespace } = pod.value as EvictionPod
  // Whoever shows a token that counts was granted the storage before.
  const isGranted = token !== undefined && worthless === undefined
  const elsewhere = isGranted ? undefined : heldElsewhere(ledger.value, { namespace, failureDomains })
  if (elsewhere !== undefined) return refuseElsewhere(snapshot, elsewhere)
  let isOwn = false
  for (const budget of budgets.value) {
    const key = budgetKey(budget)
    const entry = ledger.value.entries.find((each) => each.key === key)
    if (entry === undefined) continue
    if (entry.requestId !== token?.requestId) return refuseHeld(snapshot, entry)
    if (worthless !== undefined) return refuseToken(snapshot, entry, worthless)
    isOwn = true
  }
  return allow(isOwn ? 'HeldForThis' : 'NothingHeld')
}

/** Whoever acts for a request holds something, all of it under one epoch, with the intent written. */
function isInForce({ entries }: Ledger, { requestId, epoch }: EvictionToken): boolean {
  let isHeld = false
  for (const entry of entries) {
    if (entry.requestId !== requestId) continue
    if (entry.epoch !== epoch || entry.state !== 'Acting') return false
    isHeld = true
  }
  return isHeld
}

/**
 * Why a token opens nothing here; undefined when there is none, or when it counts.
 *
 * Tokens are no secrets: they can be read off budgets and requests. One counts only when the operator itself shows it, and
 * only for pods on the node that its request holds.
 */
function whyTokenIsWorthless({ token, asker, operatorUser, pod, ledger }: EvictionSnapshot): string | undefined {
  if (token === undefined) return undefined
  if (!operatorUser.known) return `it is not known as which user the operator evicts (${operatorUser.why})`
  if (asker !== operatorUser.value) return `it counts for user ${operatorUser.value} only`
  if (!pod.known) return pod.why
  if (!ledger.known) return ledger.why
  // One that is not there was let through before anything is held against its locks.
  const key = nodeKey((pod.value as EvictionPod).nodeName)
  const isOnItsNode = ledger.value.entries.some((entry) => entry.key === key && entry.requestId === token.requestId)
  return isOnItsNode ? undefined : `the request does not hold the node of the pod (${key})`
}

function mayBreakGlass(snapshot: EvictionSnapshot): boolean {
  const { token, breakGlass, ledger, nowMs } = snapshot
  if (token === undefined || !isBreakingGlass(breakGlass, nowMs)) return false
  return ledger.known && isInForce(ledger.value, token) && whyTokenIsWorthless(snapshot) === undefined
}

/** The words of every refusal: who holds it and why, then what ends it. */
function refuse({ target }: EvictionSnapshot, refusal: Omit<EvictionRefusal, 'allowed' | 'message'>): EvictionRefusal {
  return { allowed: false, ...refusal, message: mustStayText(target, refusal) }
}

/** One sentence about a pod that may not be evicted now. */
export function mustStayText(
  { namespace, name }: EvictionSnapshot['target'],
  { why, ends }: Pick<EvictionRefusal, 'why' | 'ends'>,
): string {
  return `Pod ${namespace}/${name} must stay: ${why}; ${ends}.`
}

function refuseAppLocked(snapshot: EvictionSnapshot, budget: EvictionBudget, lock: AppLock): EvictionVerdict {
  const until = rfc3339(lock.untilMs)
  const name = `${budget.namespace}/${budget.name}`
  const worthless = snapshot.breakGlass === undefined ? undefined : whyTokenIsWorthless(snapshot)
  const ignored = worthless === undefined ? '' : `; the eviction token is ignored: ${worthless}`
  return refuse(snapshot, {
    reason: 'AppLocked',
    why: `${lock.holder} locked budget ${name} until ${until} (${lock.reason})`,
    ends: `it may go then, or when annotation ${appLockAnnotation} is removed${ignored}`,
    cause: budgetKey(budget),
    holder: lock.holder,
    until,
  })
}

/** The API server would answer 500, at which drains give up for good; what is temporary must be answered as such. */
function refuseExchanged(snapshot: EvictionSnapshot, budgets: readonly EvictionBudget[]): EvictionVerdict {
  const names = budgets.map(({ name }) => name).join(' and ')
  const { namespace, name } = snapshot.target
  const isHeld = budgets.some((budget) => budget.name.startsWith(holdPrefix))
  return refuse(snapshot, {
    reason: isHeld ? 'HeldTwice' : 'BudgetsExchanged',
    why: isHeld
      ? `budgets ${names} hold it until what its node has of Longhorn may go (cofferdam explain pod/${namespace}/${name})`
      : `its budgets ${names} are being exchanged, which takes a few seconds`,
    ends: 'drains retry by themselves',
    cause: budgetKey(budgets[0] as EvictionBudget),
    holder: 'the cofferdam operator',
  })
}

function refuseHeld(snapshot: EvictionSnapshot, { key, holder, since, state }: LedgerEntry): EvictionVerdict {
  return refuse(snapshot, {
    reason: 'HeldByRequest',
    why: `${holder} holds ${key} since ${since}, for pods that stay on another node while it reboots`,
    ends:
      state === 'Orphaned'
        ? 'its holder is gone; it is released when what the holder started has ended'
        : 'it is released when that node is back and the pods that stayed on it are ready',
    cause: key,
    holder,
    since,
  })
}

function refuseElsewhere(snapshot: EvictionSnapshot, { key, scope, holder, since }: LedgerEntry): EvictionVerdict {
  return refuse(snapshot, {
    reason: 'OtherDomainDown',
    why: `failure domain ${scope} of ${key} is away or being drained since ${since} (${holder})`,
    ends: 'its own may follow when that is back and all data is clean, and drains retry by themselves',
    cause: key,
    holder,
    since,
  })
}

function refuseToken(snapshot: EvictionSnapshot, { key, holder, since }: LedgerEntry, why: string): EvictionVerdict {
  return refuse(snapshot, {
    reason: 'TokenIgnored',
    why: `${holder} holds ${key} since ${since}, and the eviction token is ignored: ${why}`,
    ends: 'it is released when that request has ended',
    cause: key,
    holder,
    since,
  })
}

function refuseVoidToken(
  snapshot: EvictionSnapshot,
  { requestId, epoch }: EvictionToken,
  { entries }: Ledger,
): EvictionVerdict {
  const now = entries.find((entry) => entry.requestId === requestId)
  const holder = now?.holder ?? 'nobody'
  const instead =
    now === undefined
      ? 'which holds nothing'
      : now.epoch === epoch
        ? `which ${holder} holds since ${now.since} and has not started`
        : `which ${holder} has taken over since under epoch ${now.epoch}`
  return refuse(snapshot, {
    reason: 'EpochVoid',
    why: `it was asked for under epoch ${epoch} of request ${requestId}, ${instead}`,
    ends: 'the holder of the request has to read it again',
    cause: now?.key ?? 'disruptionledger/cluster',
    holder,
  })
}

function withoutKnowing(snapshot: EvictionSnapshot, why: string): EvictionVerdict {
  if (!snapshot.isStrict) return allow('HoldUnknown')
  const { namespace } = snapshot.target
  return refuse(snapshot, {
    reason: 'HoldUnknown',
    why: `budgets of namespace ${namespace} are locked, and whether this one is cannot be known at the moment (${why})`,
    ends: 'drains retry by themselves',
    cause: `namespace/${namespace}`,
    holder: 'unknown',
  })
}
