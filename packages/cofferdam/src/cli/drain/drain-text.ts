import { listText } from '../../shared/list-text.ts'
import type { Paint } from '../../shared/paint.ts'
import { isSaid, obstacleText } from './drain-progress.ts'
import type { DrainOutcome, DrainResult } from './drain-result.ts'

const words: Record<DrainOutcome, readonly ['green' | 'yellow' | 'red', string]> = {
  drained: ['green', 'drained'],
  completed: ['green', 'over'],
  requested: ['green', 'requested'],
  rejected: ['red', 'rejected'],
  cancelled: ['red', 'cancelled'],
  blocked: ['red', 'blocked'],
  'timed-out': ['yellow', 'not done yet'],
  interrupted: ['yellow', 'left alone'],
}

/** How it ended: the verdict, what stands in the way, and what to do now. */
export function renderDrain({ outcome, disruption, next, observedAt }: DrainResult, paint: Paint): string {
  const { node, request, blockedBy, warnings, stays, evicted } = disruption
  const [colour, word] = words[outcome]
  const explanation =
    outcome === 'cancelled' ? `nodedisruption/${request} was deleted meanwhile.` : disruption.explanation
  const isUnderWay = outcome === 'blocked' || outcome === 'timed-out' || outcome === 'interrupted'
  const waits = blockedBy.filter((each) => !isSaid(each))
  const leaving = blockedBy.flatMap(({ object, reason }) => (reason === 'PodIsLeaving' ? [object] : []))
  return [
    `${paint('bold', `node/${node}`)}  ${paint(colour, word)}: ${explanation}`,
    `  request   nodedisruption/${request}`,
    ...(stays.length === 0 ? [] : [`  stay      ${listText(stays)}`]),
    ...(evicted.length === 0 ? [] : [`  evicted   ${listText(evicted)}`]),
    ...(isUnderWay && leaving.length > 0 ? [`  leaving   ${listText(leaving)}`] : []),
    ...(isUnderWay ? waits.map((blocker) => `  ${obstacleText(blocker, { paint, at: observedAt })}`) : []),
    ...warnings.map(({ object, says }) => `  ${paint('yellow', 'warning:')} ${object} ${says}`),
    ...next.map((line) => `  ${line}`),
  ].join('\n')
}
