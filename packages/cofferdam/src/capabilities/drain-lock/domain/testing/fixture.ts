import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Claim } from '../../../../ledger/rules/claim.ts'
import type { DrainLockSettings } from '../../../../ledger/rules/drain-lock-settings.ts'
import { type EntryState, emptyLedger, type Ledger, type LedgerEntry } from '../../../../ledger/rules/ledger.ts'
import type { Aside } from '../../../../ledger/rules/queue.ts'
import { known, type Observed, unknown } from '../../../../shared/observed.ts'
import type { StorageFacts } from '../../../../shared/storage-facts.ts'
import type { DisruptionDecision, DisruptionStep } from '../decision.ts'
import type {
  BudgetFacts,
  DisruptionRecord,
  DisruptionSnapshot,
  NodeFacts,
  PodFacts,
  RequestView,
} from '../snapshot.ts'

export const nowMs = Date.UTC(2026, 0, 1, 12)
export const now = rfc3339(nowMs)
export const minutes = (count: number) => count * 60_000

export const settings: DrainLockSettings = {
  mode: 'reserve',
  minTolerationMs: 900_000,
  fallbackAfterMs: minutes(30),
  plannedOutageMs: minutes(60),
  reservationMs: minutes(10),
  settleMs: 75_000,
  renewMs: 20_000,
}

export const blank: DisruptionRecord = {
  phase: 'Pending',
  epoch: undefined,
  lockedBudgets: [],
  releasedBudgets: [],
  skippedPods: [],
  evictedPods: [],
  cordonedBy: undefined,
  nodeUid: undefined,
  bootIDBefore: undefined,
  bootIDAfter: undefined,
  heardBefore: undefined,
  hasFallenBack: false,
  lockedAtMs: undefined,
  firstInQueueSinceMs: undefined,
  firstInQueueMs: 0,
}

export const ours = 'nodedisruption/reboot-a'
export const me = 'operator-1 for nodedisruption/reboot-a'
export const other = 'operator-1 for nodedisruption/reboot-b'

export const nodeA: NodeFacts = {
  name: 'node-a',
  uid: 'node-a-1',
  bootID: 'boot-1',
  isReady: true,
  isCordoned: false,
  shutdownGraceSeconds: undefined,
}

/** Wants to stay, and may. */
export const web0: PodFacts = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'web-0-1',
  kind: 'ordinary',
  isReady: true,
  isLeaving: false,
  wantsToStay: true,
  toleratesMs: Number.POSITIVE_INFINITY,
  losses: [],
  budgetUids: ['web-1'],
}

/** Leaves, and no budget covers it. */
export const job0: PodFacts = { ...web0, name: 'job-0', uid: 'job-0-1', wantsToStay: false, budgetUids: [] }

export const web: BudgetFacts = {
  namespace: 'shop',
  name: 'web',
  uid: 'web-1',
  resourceVersion: '1',
  isCounted: true,
  disruptionsAllowed: 1,
  currentHealthy: 3,
  desiredHealthy: 2,
  expectedPods: 3,
  disruptedUntilMs: {},
  hold: undefined,
  appLock: undefined,
}

export const ceph: StorageFacts = {
  key: 'storage/rook-ceph/main',
  uid: 'ceph-1',
  failureDomain: 'zone-a',
  mayGo: known({ allowed: true, explanation: 'zone-a may go.' }),
  isClean: known(true),
}

/** The budget with our lock on it, as it is after it was taken and counted. */
export function locked(budget: BudgetFacts = web, epoch = 1, pods: readonly string[] = ['web-0']): BudgetFacts {
  const untilMs = nowMs + minutes(9)
  return {
    ...budget,
    disruptionsAllowed: budget.disruptionsAllowed - pods.length,
    currentHealthy: budget.currentHealthy - pods.length,
    disruptedUntilMs: Object.fromEntries(pods.map((pod) => [pod, untilMs])),
    hold: { requestId: 'R1', request: ours, epoch, untilMs, reason: 'kernel' },
  }
}

export function entry(key: string, change: Partial<LedgerEntry> = {}): LedgerEntry {
  const uid = key === 'node/node-a' ? 'node-a-1' : key === 'pdb/shop/web' ? 'web-1' : 'ceph-1'
  const scope = key.startsWith('storage/') ? 'zone-a' : ''
  const state: EntryState = 'Granted'
  return { key, uid, scope, holder: me, requestId: 'R1', epoch: 1, state, since: now, renewSequence: 0, ...change }
}

export function ledgerOf(...entries: readonly LedgerEntry[]): Ledger {
  const epochs = entries.map(({ epoch }) => epoch + 1)
  return { ...emptyLedger, nextEpoch: Math.max(1, ...epochs), entries }
}

export const granted: Ledger = ledgerOf(entry('node/node-a'), entry('pdb/shop/web'))
export const acting: Ledger = ledgerOf(
  entry('node/node-a', { state: 'Acting', bootID: 'boot-1' }),
  entry('pdb/shop/web', { state: 'Acting' }),
)

const reference = { namespace: 'shop', name: 'web', uid: 'web-1' }
export const planned: DisruptionRecord = {
  ...blank,
  phase: 'Locking',
  epoch: 1,
  nodeUid: 'node-a-1',
  lockedBudgets: [reference],
  skippedPods: [{ namespace: 'shop', name: 'web-0', uid: 'web-0-1' }],
}
export const draining: DisruptionRecord = {
  ...planned,
  phase: 'Draining',
  bootIDBefore: 'boot-1',
  cordonedBy: ours,
  evictedPods: [{ namespace: 'shop', name: 'job-0', uid: 'job-0-1' }],
}
export const drained: DisruptionRecord = { ...draining, phase: 'Drained' }
export const recovering: DisruptionRecord = { ...draining, phase: 'Recovering', bootIDAfter: 'boot-2' }

export interface Scenario {
  readonly nowMs?: number
  readonly request?: Partial<Omit<RequestView, 'record'>>
  readonly record?: DisruptionRecord
  /** null: there is no such node. */
  readonly node?: Partial<NodeFacts> | null
  readonly pods?: readonly PodFacts[]
  readonly budgets?: readonly BudgetFacts[]
  /** Text: it is unknown, for this reason. */
  readonly ledger?: Ledger | string
  readonly storage?: readonly StorageFacts[]
  readonly limits?: DisruptionSnapshot['limits']
  readonly settings?: Partial<DrainLockSettings>
}

/** A reboot of node-a, on which web-0 wants to stay and job-0 leaves. */
export function tell(scenario: Scenario = {}): DisruptionSnapshot {
  const ledger: Observed<Ledger> =
    typeof scenario.ledger === 'string' ? unknown(scenario.ledger) : known(scenario.ledger ?? emptyLedger)
  return {
    nowMs: scenario.nowMs ?? nowMs,
    holder: me,
    request: {
      id: 'R1',
      name: 'reboot-a',
      nodeName: 'node-a',
      intent: 'Reboot',
      requester: 'alice',
      reason: 'kernel',
      honourSkipDrain: true,
      accepts: [],
      createdMs: nowMs,
      fallbackAfterMs: undefined,
      deadlineMs: undefined,
      isCancelled: false,
      breakGlass: undefined,
      ...scenario.request,
      record: scenario.record ?? blank,
    },
    node: scenario.node === null ? undefined : { ...nodeA, ...scenario.node },
    pods: scenario.pods ?? [web0, job0],
    budgets: scenario.budgets ?? [web],
    ledger,
    storage: scenario.storage ?? [],
    limits: scenario.limits ?? known([]),
    settings: { ...settings, ...scenario.settings },
  }
}

function claimsInWords(claims: readonly Claim[]): string {
  return claims.map(({ key, scope }) => (scope === '' ? key : `${key} in ${scope}`)).join(', ')
}

function asideInWords(aside: Aside | undefined): string {
  return aside === undefined ? '' : `, aside ${aside.toLowerCase()}`
}

export function stepInWords(step: DisruptionStep): string {
  switch (step.step) {
    case 'take':
      return `take ${claimsInWords(step.claims)}`
    case 'queue':
      return `queue for ${claimsInWords(step.claims)}${asideInWords(step.aside)}`
    case 'step-back':
      return `step back under ${step.epoch}${asideInWords(step.aside)}`
    case 'record':
      return `record ${step.record.phase}`
    case 'lock':
      return `lock ${step.budget.namespace}/${step.budget.name} for ${step.pods.join(', ')} until ${rfc3339(step.untilMs)} under ${step.epoch}`
    case 'unlock':
      return `unlock ${step.budget.namespace}/${step.budget.name}`
    case 'intend':
      return `intend ${step.bootID} under ${step.epoch}`
    case 'evict':
      return `evict ${step.pods.map(({ name }) => name).join(', ')} under ${step.epoch}`
    case 'break':
      return `break ${step.keys.join(', ')} for ${step.by}`
    case 'release-budgets':
      return `release ${step.keys.join(', ')} under ${step.epoch}`
    case 'renew':
    case 'release':
      return `${step.step} under ${step.epoch}`
    default:
      return step.step
  }
}

export interface Outcome {
  readonly reason: string
  readonly phase: string
  readonly steps?: readonly string[]
  /** object: reason, held by */
  readonly blockedBy?: readonly string[]
  readonly warnings?: readonly string[]
}

export function inWords({ reason, record, steps, blockedBy, warnings }: DisruptionDecision): Outcome {
  return {
    reason,
    phase: record.phase,
    ...(steps.length === 0 ? {} : { steps: steps.map(stepInWords) }),
    ...(blockedBy.length === 0
      ? {}
      : { blockedBy: blockedBy.map((each) => `${each.object}: ${each.reason}, ${each.holder}`) }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.map(({ object, says }) => `${object} ${says}`) }),
  }
}
