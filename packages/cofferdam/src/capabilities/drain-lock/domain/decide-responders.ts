import { imperativeEvictor } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { appLockBlockers, budgetsOver, holdersInTheWay, obstacleBlocker, waitingSince } from './claims.ts'
import type { DisruptionBlocker, DisruptionDecision, DisruptionWarning } from './decision.ts'
import type { DisruptionView } from './disruption-view.ts'
import { podName } from './plan-pods.ts'
import type { EvictionAsk, SeenResponders } from './responder-facts.ts'
import type { PodFacts } from './snapshot.ts'

/** How long a responder may send no heartbeat before Kubernetes passes the pod on to the next. */
const silentMs = 20 * 60_000
/** How long it may take until one becomes active: the first after it was asked for, or the next after one has ended. */
const handOverMs = 60_000
/** By how much the clock of another may be ahead. What claims to be later is not believed: it would be waited for without end. */
const skewMs = 5 * 60_000

export interface RespondersDecision {
  /** They may be evicted now. */
  readonly evicted: readonly PodFacts[]
  /** Their responders are to be asked now. */
  readonly asked: readonly PodFacts[]
  /** What keeps the pods that are not evicted now. */
  readonly waits: readonly DisruptionBlocker[]
  readonly warnings: readonly DisruptionWarning[]
}

type Answer =
  | { readonly evict: true; readonly warning?: string }
  | { readonly evict: false; readonly ask?: true; readonly waits: readonly DisruptionBlocker[] }

/**
 * Which of the pods that leave are evicted now, and which are left to the responders that they name.
 *
 * Guarantees: a pod without responders, and every pod under break-glass, is evicted at once. A responder is waited for only as long as it
 * gives signs of life; where none becomes active, or EvictionRequests may not be written, the pod is evicted like any other.
 * Fails closed: while it is not known how far responders have come, their pods stay.
 */
export function decideResponders(view: DisruptionView, leaves: readonly PodFacts[]): RespondersDecision {
  const evicted: PodFacts[] = []
  const asked: PodFacts[] = []
  const waits: DisruptionBlocker[] = []
  const warnings: DisruptionWarning[] = []
  for (const pod of leaves) {
    const answer = answerFor(view, pod)
    if (!answer.evict) {
      if (answer.ask) asked.push(pod)
      waits.push(...answer.waits.map((each) => ({ ...each, pods: [`${pod.namespace}/${pod.name}`] })))
      continue
    }
    evicted.push(pod)
    if (answer.warning !== undefined) warnings.push({ object: podName(pod), says: answer.warning })
  }
  return { evicted, asked, waits, warnings }
}

/** Takes back what was asked of responders; nothing where all of it was taken back, or cannot be. */
export function withdrawal({ snapshot: { responders } }: DisruptionView): Pick<DisruptionDecision, 'responders'> {
  if (responders?.state !== 'seen') return {}
  const withdraw = responders.asks.filter(({ state, podUid }) => state === 'open' && !responders.refused.has(podUid))
  return withdraw.length === 0 ? {} : { responders: { withdraw } }
}

function answerFor(view: DisruptionView, pod: PodFacts): Answer {
  const { snapshot, breaksGlass } = view
  const named = pod.responders ?? []
  const seen = snapshot.responders
  if (named.length === 0 || pod.kind !== 'ordinary' || seen === undefined || breaksGlass) return { evict: true }
  if (seen.state === 'refused') return { evict: true, warning: cannotAsk(named, seen.why) }
  if (seen.state === 'unknown') return { evict: false, waits: [unknownBlocker(view, pod, { named, why: seen.why })] }
  const refusal = seen.refused.get(pod.uid)
  if (refusal !== undefined) return { evict: true, warning: cannotAsk(named, refusal) }
  const ask = seen.asks.find(({ podUid }) => podUid === pod.uid)
  return ask === undefined ? answerUnasked(view, pod, named) : answerAsked(view, pod, { seen, ask, named })
}

/** A responder may delete its pod whatever the budget says, so it is not asked where an eviction would be refused on purpose. */
function answerUnasked(view: DisruptionView, pod: PodFacts, named: readonly string[]): Answer {
  const keepers = [
    ...appLockBlockers(view, budgetsOver(view, pod)),
    ...holdersInTheWay(view, [pod]).map((entry) => obstacleBlocker(view, entry)),
  ]
  if (keepers.length > 0) return { evict: false, waits: keepers }
  return { evict: false, ask: true, waits: [startBlocker(pod, named, view.nowMs)] }
}

interface Asked {
  readonly seen: SeenResponders
  readonly ask: EvictionAsk
  readonly named: readonly string[]
}

function answerAsked({ nowMs }: DisruptionView, pod: PodFacts, { seen, ask, named }: Asked): Answer {
  if (ask.state !== 'open') return { evict: true }
  const progress = seen.progress.filter(({ podUid }) => podUid === pod.uid)
  const active = progress.flatMap((each) => each.active ?? [])[0]
  if (active?.name === imperativeEvictor) return { evict: true }
  const signsMs = progress.flatMap((each) => each.signsMs).filter((ms) => ms <= nowMs + skewMs)
  const lastMs = Math.max(ask.createdMs, ...signsMs)
  const untilMs = lastMs + handOverMs + (active === undefined ? 0 : silentMs)
  if (nowMs >= untilMs) return { evict: true }
  if (active === undefined) return { evict: false, waits: [startBlocker(pod, named, ask.createdMs)] }
  const expects = active.expectedMs === undefined ? '' : ` It expects to end at ${rfc3339(active.expectedMs)}.`
  return {
    evict: false,
    waits: [
      {
        object: podName(pod),
        holder: active.name,
        since: rfc3339(ask.createdMs),
        reason: 'EvictionResponderActive',
        wayOut: `It moves the pod itself.${expects} The pod is evicted when it sends no heartbeat for 20 minutes, or at once by break-glass.`,
      },
    ],
  }
}

function startBlocker(pod: PodFacts, named: readonly string[], sinceMs: number): DisruptionBlocker {
  return {
    object: podName(pod),
    holder: inWords(named),
    since: rfc3339(sinceMs),
    reason: 'EvictionResponderActive',
    wayOut: 'Its responders are asked to move it. It is evicted if none of them becomes active within a minute.',
  }
}

function unknownBlocker(
  view: DisruptionView,
  pod: PodFacts,
  { named, why }: { readonly named: readonly string[]; readonly why: string },
): DisruptionBlocker {
  return {
    object: podName(pod),
    holder: inWords(named),
    since: waitingSince(view),
    reason: 'EvictionRequestsUnknown',
    wayOut: `EvictionRequests are read again every few seconds: ${why}. Break-glass evicts the pod at once.`,
  }
}

function cannotAsk(named: readonly string[], why: string): string {
  return `is evicted without asking ${inWords(named)}: ${why}`
}

function inWords([first = '', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} and ${more.length} more`
}
