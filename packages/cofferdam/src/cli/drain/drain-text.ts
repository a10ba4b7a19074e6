import { listText } from '../../shared/list-text.ts'
import type { Paint } from '../../shared/paint.ts'
import { renderPlan, renderRefusal } from './drain-plan-text.ts'
import { obstaclesShown, obstacleText } from './drain-progress.ts'
import type { DrainAnswer, DrainBatch, DrainOutcome, DrainResult, RebootProtection } from './drain-result.ts'

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
function renderResult({ outcome, disruption, protection, next, observedAt }: DrainResult, paint: Paint): string {
  const { node, request, warnings, stays, evicted } = disruption
  const [colour, word] = words[outcome]
  const explanation =
    outcome === 'cancelled' ? `nodedisruption/${request} was deleted meanwhile.` : disruption.explanation
  const isUnderWay = outcome === 'blocked' || outcome === 'timed-out' || outcome === 'interrupted'
  const waits = obstaclesShown(disruption)
  return [
    `${paint('bold', `node/${node}`)}  ${paint(colour, word)}: ${explanation}`,
    `  request   nodedisruption/${request}`,
    ...(stays.length === 0 ? [] : [`  stay      ${listText(stays)}`]),
    ...(evicted.length === 0 ? [] : [`  evicted   ${listText(evicted)}`]),
    ...(isUnderWay ? waits.map((blocker) => `  ${obstacleText(blocker, { paint, at: observedAt })}`) : []),
    ...warnings.map(({ object, says }) => `  ${paint('yellow', 'warning:')} ${object} ${says}`),
    ...(protection === undefined ? [] : [`  ${protectionText(protection)}`]),
    ...next.map((line) => `  ${line}`),
  ].join('\n')
}

function protectionText({ returnWithin, deadline }: RebootProtection): string {
  const latest = deadline === undefined ? '' : `, at the latest until ${deadline}`
  return `remediation leaves it alone until ${returnWithin} after it goes down${latest}`
}

export function renderDrain(answer: DrainAnswer | DrainBatch, paint: Paint): string {
  if ('drains' in answer) return renderBatch(answer, paint)
  if (!('plan' in answer)) return renderResult(answer, paint)
  if (answer.outcome === 'refused') return renderRefusal(answer, paint)
  return `${renderPlan(answer, paint)}\n  dry run: no request was created`
}

function renderBatch({ waves, drains, ended }: DrainBatch, paint: Paint): string {
  const isRefused = drains.some(({ outcome }) => outcome === 'refused')
  const isPlanned = drains.some(({ outcome }) => outcome === 'planned')
  return [
    ...(isPlanned ? wavesText(waves) : []),
    ...drains.map((each) =>
      'plan' in each && each.outcome === 'planned' ? renderPlan(each, paint) : renderDrain(each, paint),
    ),
    ...(isPlanned ? ['dry run: no request was created'] : []),
    ...(ended === undefined ? [] : [`${paint(ended.how === 'blocked' ? 'red' : 'yellow', ended.how)}: ${ended.says}`]),
    ...(isRefused ? ['No request was created for any node.'] : []),
  ].join('\n')
}

export function wavesText(waves: readonly (readonly string[])[]): string[] {
  return waves.map((nodes, index) => `wave ${String(index + 1).padEnd(5)}${nodes.join(', ')}`)
}
