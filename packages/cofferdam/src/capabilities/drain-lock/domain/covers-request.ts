import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { NodeFacts, PodLoss } from './snapshot.ts'

/** What somebody asks of a drain, in the words of a request. */
export type AskedOfDrain = Pick<
  NodeDisruption['spec'],
  'intent' | 'honourSkipDrain' | 'gracePeriodSeconds' | 'fallbackAfter' | 'deadline' | 'returnWithin'
> & {
  readonly accepts: readonly PodLoss[]
}

/** A field in which a request under way falls short of what is asked. */
export interface RequestDifference {
  readonly field: string
  readonly underWay: string
  readonly asked: string
}

/** A request that drains its node no more, and is not over. */
export interface EndingRequest {
  readonly request: string
  /** `is Recovering`. */
  readonly state: string
}

/**
 * Which of the requests for a node, oldest first and none of them over, whoever asks now may follow, and which end before a new one can begin.
 *
 * One that covers what is asked is preferred; where none does, the oldest that still drains the node is the one to compare with.
 */
export function requestToFollow(
  open: readonly NodeDisruption[],
  node: EndingNode,
  asked: AskedOfDrain,
): { readonly standing: NodeDisruption | undefined; readonly behind: readonly EndingRequest[] } {
  const judged = open.map((request) => ({ request, state: endingOf(request, node) }))
  const draining = judged.flatMap(({ request, state }) => (state === undefined ? [request] : []))
  return {
    standing: draining.find((request) => differencesFrom(request, asked).length === 0) ?? draining[0],
    behind: judged.flatMap(({ request, state }) =>
      state === undefined ? [] : [{ request: request.metadata.name, state }],
    ),
  }
}

/** The node of a request, read after the request was. */
export type EndingNode = Pick<NodeFacts, 'uid' | 'bootID' | 'isReady' | 'isCordoned'>

/**
 * Why a request will not drain its node again; undefined while it drains it, or keeps it drained. Its record may still say Drained: the operator
 * has yet to see that the node was rebooted, released or created anew, and whoever followed it would take a node in use for a drained one.
 */
export function endingOf({ metadata, spec, status = {} }: NodeDisruption, node: EndingNode): string | undefined {
  const { phase, nodeUid, bootIDBefore = '' } = status
  if (phase === 'Recovering') return 'is Recovering'
  if (metadata.deletionTimestamp !== undefined) return 'is being cancelled'
  if (nodeUid !== undefined && nodeUid !== node.uid) return 'was for another node of that name'
  const hasRebooted = bootIDBefore !== '' && node.bootID !== '' && node.bootID !== bootIDBefore
  if (hasRebooted && spec.intent === 'Reboot') return 'was for a reboot that has taken place'
  const isReleased = phase === 'Drained' && node.isReady && !node.isCordoned
  return isReleased ? 'has ended because the node was uncordoned' : undefined
}

/**
 * In what a request that still drains its node does not cover what is asked; empty when whoever asks may follow it instead.
 *
 * It covers what is asked if the node is at least as empty when it says Drained, no later and under no more conditions. Whoever asks for
 * a reboot may join a removal. Whoever asks for a removal must not join a reboot: pods that stay would be gone with the machine.
 */
export function differencesFrom(underWay: NodeDisruption, asked: AskedOfDrain): readonly RequestDifference[] {
  const { spec, status = {} } = underWay
  const differences: RequestDifference[] = []
  const differs = (
    field: string,
    has: string | number | boolean | undefined,
    wants: string | number | boolean | undefined,
  ) => void differences.push({ field, underWay: String(has ?? 'not set'), asked: String(wants) })
  if (asked.intent !== 'Reboot' && asked.intent !== spec.intent) differs('intent', spec.intent, asked.intent)
  const mayLeavePods = spec.intent === 'Reboot' && spec.honourSkipDrain && status.hasFallenBack !== true
  if (mayLeavePods && !asked.honourSkipDrain) differs('honourSkipDrain', true, false)
  for (const loss of asked.accepts) if (spec[loss] !== true) differs(loss, false, true)
  // Shorter would kill what was to end by itself, longer would end later than asked.
  const { gracePeriodSeconds } = asked
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds !== spec.gracePeriodSeconds) {
    differs('gracePeriodSeconds', spec.gracePeriodSeconds, gracePeriodSeconds)
  }
  if (mayLeavePods && isLater(spec.fallbackAfter, asked.fallbackAfter, parseDuration)) {
    differs('fallbackAfter', spec.fallbackAfter, asked.fallbackAfter)
  }
  if (isLater(spec.deadline, asked.deadline, parseRfc3339)) differs('deadline', spec.deadline, asked.deadline)
  // Where the request does not say, the operator does, and that may be too short.
  const { returnWithin } = asked
  if (spec.intent === 'Reboot' && returnWithin !== undefined && !isAsLong(spec.returnWithin, returnWithin)) {
    differs('returnWithin', spec.returnWithin, returnWithin)
  }
  return differences
}

function isAsLong(has: string | undefined, asked: string): boolean {
  const [given, wanted] = [has === undefined ? undefined : parseDuration(has), parseDuration(asked)]
  return wanted === undefined || (given !== undefined && given >= wanted)
}

/** Fails closed: what cannot be read, or is not set, is later than anything asked for. */
function isLater(
  has: string | undefined,
  asked: string | undefined,
  parse: (text: string) => number | undefined,
): boolean {
  const wanted = asked === undefined ? undefined : parse(asked)
  if (wanted === undefined) return false
  const given = has === undefined ? undefined : parse(has)
  return given === undefined || given > wanted
}
