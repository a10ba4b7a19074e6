import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { Paint } from '../../shared/paint.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { obstaclesShown, obstacleText } from './drain-progress.ts'

/** `given-back`: nothing is held for the node any more. `under-way`: it was asked for, and not waited for to the end. */
export type UncordonOutcome = 'given-back' | 'not-cordoned' | 'under-way' | 'timed-out' | 'foreign-cordon'

export interface UncordonResult {
  readonly node: string
  readonly outcome: UncordonOutcome
  readonly explanation: string
  /** The request that was ended, as it was seen last: of several the oldest, or the one that is still waited for. */
  readonly disruption?: DisruptionAnswer
  /** The names of those that were ended with it. */
  readonly others?: readonly string[]
  /** Objects of other tools that the requests were made for. They go on asking. */
  readonly stillAskedBy?: readonly Asker[]
  readonly wayOut?: string
  /** When the request was seen last, where it is not over. */
  readonly observedAt?: string
}

export interface Asker {
  /** `nodemaintenance/rack-2`. */
  readonly object: string
  /** The request was cancelled: the operator creates it again. One that had drained the node is over, and may be followed by another. */
  readonly isCreatedAgain: boolean
}

/** Of several nodes. */
export interface UncordonBatch {
  readonly nodes: readonly UncordonResult[]
}

const codes: Record<UncordonOutcome, ExitCode> = {
  'given-back': exitCodes.done,
  'not-cordoned': exitCodes.done,
  'under-way': exitCodes.done,
  'timed-out': exitCodes.timedOut,
  'foreign-cordon': exitCodes.blocked,
}

export function uncordonExitCode(answer: UncordonResult | UncordonBatch): ExitCode {
  const all = ('nodes' in answer ? answer.nodes : [answer]).map(({ outcome }) => codes[outcome])
  if (all.includes(exitCodes.blocked)) return exitCodes.blocked
  return all.includes(exitCodes.timedOut) ? exitCodes.timedOut : exitCodes.done
}

/** Of the requests that were ended the first, and the names of the others. */
export function endedRequests([disruption, ...more]: readonly DisruptionAnswer[]): Pick<
  UncordonResult,
  'disruption' | 'others'
> {
  if (disruption === undefined) return {}
  return { disruption, ...(more.length === 0 ? {} : { others: more.map(({ request }) => request) }) }
}

const words: Record<UncordonOutcome, readonly ['green' | 'yellow' | 'red', string]> = {
  'given-back': ['green', 'released'],
  'not-cordoned': ['green', 'not cordoned'],
  'under-way': ['yellow', 'under way'],
  'timed-out': ['yellow', 'not done yet'],
  'foreign-cordon': ['red', 'still cordoned'],
}

export function renderUncordon(answer: UncordonResult | UncordonBatch, paint: Paint): string {
  return 'nodes' in answer ? answer.nodes.map((each) => renderOne(each, paint)).join('\n') : renderOne(answer, paint)
}

function renderOne(result: UncordonResult, paint: Paint): string {
  const { node, outcome, explanation, disruption, others = [], stillAskedBy = [], wayOut, observedAt } = result
  const [colour, word] = words[outcome]
  const waits = outcome === 'timed-out' && disruption !== undefined ? obstaclesShown(disruption) : []
  return [
    `${paint('bold', `node/${node}`)}  ${paint(colour, word)}: ${explanation}`,
    ...(disruption === undefined ? [] : [`  request   ${requestNames([disruption.request, ...others])}`]),
    ...stillAskedBy.map((asker) => `  ${paint('yellow', 'warning:')} ${askerText(asker, node)}`),
    ...waits.map((each) => `  ${obstacleText(each, { paint, at: observedAt ?? '' })}`),
    ...(wayOut === undefined || waits.length > 0 ? [] : [`  way out   ${wayOut}`]),
  ].join('\n')
}

export function requestNames(names: readonly string[]): string {
  return names.map((name) => `nodedisruption/${name}`).join(', ')
}

/** What is ended here alone comes back. */
function askerText({ object, isCreatedAgain }: Asker, node: string): string {
  return isCreatedAgain
    ? `${object} asked for it. The operator creates the request again for as long as ${object} asks for ${node}: end it there`
    : `${object} asked for it, and may ask for ${node} again: end it there`
}
