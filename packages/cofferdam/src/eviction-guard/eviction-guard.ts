import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { evictionTokenAnnotation, parseEvictionToken } from '../capabilities/drain-lock/domain/eviction-token.ts'
import type { BreakGlass } from '../ledger/rules/break-glass.ts'
import { decideEviction } from '../ledger/rules/decide-eviction.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { failureDomainsOf } from '../shared/pod-failure-domains.ts'
import {
  decodeReview,
  encodeAnswer,
  type PodRemoval,
  type ReviewAnswer,
  type ReviewRefusal,
} from './admission-review.ts'
import type { AttemptPublisher } from './attempt-publisher.ts'
import type { CoveringBudget, CoveringBudgets } from './covering-budgets.ts'
import { guardTrialAnnotation, guardTrialAnswer } from './domain/guard-trial.ts'
import type { EvictionAttempts } from './eviction-attempts.ts'
import { type GuardedPod, parseGuardedPod } from './guarded-objects.ts'
import type { LedgerSource } from './ledger-source.ts'
import { exemptionOf } from './removal-exemptions.ts'

/** What is sent back over HTTP. */
export interface GuardAnswer {
  readonly code: number
  readonly body: string
  readonly contentType?: string
}

export interface EvictionGuardOptions {
  readonly clock: Clock
  /** Measures how long an answer took, finer than the clock. */
  readonly startStopwatch: () => () => number
  /** Indexed by `node`. */
  readonly pods: Pick<WatchView<GuardedPod>, 'get' | 'ageMs' | 'byIndex'>
  /** Asks the API server for a pod that the view does not have. */
  readonly readPod: (key: { namespace: string; name: string }) => Promise<Observed<GuardedPod | undefined>>
  readonly budgets: CoveringBudgets
  readonly ledger: LedgerSource
  /** What a request was allowed by an explicit override. */
  readonly breakGlassOf: (requestId: string) => BreakGlass | undefined
  /** As whom the operator evicts. */
  readonly operatorUser: () => Observed<string>
  /** Left out where nothing is known of storage. */
  readonly explainStorage?: ExplainStorage
  readonly attempts: EvictionAttempts
  readonly publisher: Pick<AttemptPublisher, 'publish'>
  readonly report?: (outcome: GuardOutcome) => void
  /** A view that heard nothing for longer is not believed. Default 3 minutes: a quiet watch is heard about once a minute. */
  readonly trustedMs?: number
  /** Whether deletions of pods are judged as evictions are. Default false. */
  readonly guardsDeletions?: boolean
}

/**
 * Why the budgets of a pod refuse its eviction for the sake of storage. Undefined when they do not, or when that is not known in time:
 * then the API server asks the budgets itself.
 */
export type ExplainStorage = (asked: {
  readonly namespace: string
  readonly name: string
  /** Names of the budgets that cover it. */
  readonly budgets: readonly string[]
}) => Promise<ReviewRefusal | undefined>

export interface GuardOutcome {
  readonly verdict: 'allowed' | 'refused' | 'malformed'
  readonly reason: string
  readonly tookMs: number
}

export interface AskedHow {
  /** The namespace holds a lock, so what cannot be known counts as held. */
  readonly isStrict: boolean
  /** Whether it came from the API server, as far as can be known. */
  readonly isFromServer: boolean
}

export interface EvictionGuard {
  answer(text: string, asked: AskedHow): Promise<GuardAnswer>
}

/**
 * Answers admission reviews about pods that somebody wants gone.
 *
 * Guarantees: the work for one review does not grow with the number of pods or budgets; nothing is remembered of it but
 * who last tried to empty which node. A review that may have come from anybody leaves nothing behind, asks for no
 * pod and is answered without the names of holders.
 */
export function createEvictionGuard(options: EvictionGuardOptions): EvictionGuard {
  const { clock, startStopwatch, pods, readPod, budgets, ledger, breakGlassOf, operatorUser } = options
  const { attempts, publisher, report } = options
  const { trustedMs = 180_000, guardsDeletions = false } = options

  async function answer(text: string, asked: AskedHow): Promise<GuardAnswer> {
    const tookMs = startStopwatch()
    const reportVerdict = (verdict: GuardOutcome['verdict'], reason: string) =>
      report?.({ verdict, reason, tookMs: tookMs() })
    const decoded = decodeReview(text)
    if (!decoded.ok) {
      reportVerdict('malformed', 'Malformed')
      return { code: 400, body: `not understood: ${decoded.why}\n` }
    }
    const { removal } = decoded
    const trial = removal === undefined || !asked.isFromServer ? undefined : trialAnswer(removal)
    if (trial !== undefined)
      return { code: 200, body: encodeAnswer(decoded.uid, trial), contentType: 'application/json' }
    const verdict = removal === undefined ? notOurs : await judgeRemoval(removal, asked)
    reportVerdict(verdict.allowed ? 'allowed' : 'refused', verdict.reason)
    return { code: 200, body: encodeAnswer(decoded.uid, verdict), contentType: 'application/json' }
  }

  async function judgeRemoval(removal: PodRemoval, asked: AskedHow): Promise<ReviewAnswer> {
    const { isStrict, isFromServer } = asked
    const { verb, isDryRun, user } = removal
    if (verb === 'delete' && (!guardsDeletions || exemptionOf(removal) !== undefined)) return notOurs
    const held = podOf(removal)
    if (!isFromServer) return withoutNames(await judgePod(removal, isStrict ? inView(held) : held, asked))
    // Where something is locked, a pod that is merely too new to be in view is not let go.
    const pod = isStrict && held.known && held.value === undefined ? await readPod(removal) : held
    const nodeName = pod.known ? (pod.value?.nodeName ?? '') : ''
    const isAttempt = verb === 'evict' && !isDryRun && nodeName !== ''
    // Before it is judged: who watches for drains hears of it at once.
    if (isAttempt) publisher.publish(attempts.note(nodeName, user))
    const verdict = await judgePod(removal, pod, asked)
    if (isAttempt && !verdict.allowed) {
      publisher.publish(attempts.note(nodeName, user, `${verdict.cause} (${verdict.reason})`))
    }
    return verdict
  }

  async function judgePod(
    removal: PodRemoval,
    pod: Observed<GuardedPod | undefined>,
    { isStrict, isFromServer }: AskedHow,
  ): Promise<ReviewAnswer> {
    const { verb, isDryRun, user } = removal
    const token = parseEvictionToken(removal.annotations[evictionTokenAnnotation])
    const placed = pod.known && pod.value !== undefined ? known(withPlace(pod.value)) : pod
    let covering: ReturnType<typeof budgetsOver> = known([])
    const judge = (seen: Observed<Ledger>, over = budgetsOver(pod, seen)) => {
      covering = over
      return decideEviction({
        target: { namespace: removal.namespace, name: removal.name },
        pod: placed,
        budgets: covering,
        ledger: seen,
        // After the ledger was waited for: a lock that ended meanwhile does not count.
        nowMs: clock.now(),
        token,
        asker: user,
        operatorUser: operatorUser(),
        breakGlass: token === undefined ? undefined : breakGlassOf(token.requestId),
        isStrict,
        dryRun: isDryRun,
      })
    }
    const awaited = ledger.current()
    let seen = awaited instanceof Promise ? await awaited : awaited
    let verdict = judge(seen)
    if (!isFromServer) return verdict
    if (!verdict.allowed && token !== undefined && verdict.reason !== 'AppLocked') {
      // Whoever shows a token has just written it down, and our copy may be from before.
      const latest = await ledger.renewed()
      if (latest.known) {
        seen = latest
        verdict = judge(seen)
      }
    }
    const isFree = verdict.reason === 'NothingHeld' || verdict.reason === 'HeldForThis'
    if (isStrict && isFree && pod.known && pod.value !== undefined) {
      // Whoever marked the namespace may have heard of a lock there that our copy is too old for.
      verdict = judge(seen, await budgets.coveringAsRead(pod.value, seen))
    }
    // The operator knows why, and a deletion asks no budget.
    if (token !== undefined || verb !== 'evict') return verdict
    return (await storageRefusal(removal, verdict, covering)) ?? verdict
  }

  /** What the budget is about to refuse is refused here, with the reason that the budget cannot give. */
  async function storageRefusal(
    { namespace, name }: PodRemoval,
    { allowed, reason }: ReviewAnswer,
    covering: Observed<readonly CoveringBudget[]>,
  ): Promise<ReviewAnswer | undefined> {
    // What is refused by the ledger has a better reason where the budget refuses it too.
    const isAsked = allowed
      ? reason === 'NothingHeld' || reason === 'HoldUnknown'
      : reason === 'HeldTwice' || reason === 'OtherDomainDown'
    if (!isAsked || !covering.known || !covering.value.some(({ mayHoldStorage }) => mayHoldStorage)) return undefined
    return options.explainStorage?.({ namespace, name, budgets: covering.value.map((budget) => budget.name) })
  }

  function withPlace(pod: GuardedPod) {
    const failureDomains = failureDomainsOf(pod, (nodeName) => pods.byIndex('node', nodeName))
    return failureDomains === undefined ? pod : { ...pod, failureDomains }
  }

  function budgetsOver(pod: Observed<GuardedPod | undefined>, seen: Observed<Ledger>) {
    if (!pod.known) return unknown(pod.why)
    return pod.value === undefined ? known([]) : budgets.covering(pod.value, seen)
  }

  function podOf({ namespace, name, pod }: PodRemoval): Observed<GuardedPod | undefined> {
    if (pod !== undefined) return known(parseGuardedPod(pod))
    if (pods.ageMs() > trustedMs) return unknown('the pods of the cluster are not known at the moment')
    return known(pods.get({ namespace, name }))
  }

  return { answer }
}

/** Refused, whatever the pod: that it was tried is all that is wanted, and a refusal is the only answer that a client is shown. */
function trialAnswer({ verb, isDryRun, annotations }: PodRemoval): ReviewRefusal | undefined {
  const word = annotations[guardTrialAnnotation]
  if (verb !== 'evict' || !isDryRun || word === undefined) return undefined
  return { allowed: false, reason: 'NotGuarded', message: guardTrialAnswer(word.slice(0, 100)), cause: 'trial' }
}

/** Where something is locked, a pod that is not in view may be too new for it. */
function inView(pod: Observed<GuardedPod | undefined>): Observed<GuardedPod | undefined> {
  return pod.known && pod.value === undefined ? unknown('the pod is not in view') : pod
}

/** Whoever can reach the guard's port gets this: which pods must stay can be found out by evicting them, who holds them cannot. */
function withoutNames(verdict: ReviewAnswer): ReviewAnswer {
  if (verdict.allowed) return verdict
  return { ...verdict, message: 'The pod must stay. Ask the API server for the reason.', cause: 'pdb/unnamed' }
}

const notOurs: ReviewAnswer = { allowed: true, reason: 'NotGuarded' }
