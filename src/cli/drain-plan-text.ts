import { obstacleText } from './drain-progress.ts'
import type { PlannedDrain } from './drain-result.ts'
import type { Paint } from './terminal.ts'

/** The plan for people: the verdict, who stays and who leaves, what has to be held, what stands in the way. */
export function renderPlan({ plan, underWay, observedAt, notSeen }: PlannedDrain, paint: Paint): string {
  const { node, mayBegin, reason, explanation, blockedBy, warnings } = plan
  const verdict = mayBegin ? paint('green', 'may begin') : paint('red', 'blocked')
  const row = (name: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`  ${name.padEnd(10)}${names.join(', ')}`]
  return [
    `${paint('bold', `node/${node}`)}  ${verdict}: ${explanation} (${reason})`,
    ...(underWay === undefined ? [] : [`  request   nodedisruption/${underWay} is under way`]),
    ...row('stay', plan.stays),
    ...row('leave', plan.leaves),
    ...row('leaving', plan.leaving),
    ...row('needs', plan.keys),
    ...blockedBy.map((blocker) => `  ${obstacleText(blocker, { paint, at: observedAt })}`),
    ...warnings.map(({ object, says }) => `  ${paint('yellow', 'warning:')} ${object} ${says}`),
    ...notSeen.map((what) => `  ${paint('yellow', 'not seen:')} ${what}`),
    '  nothing was asked for: this is a dry run',
  ].join('\n')
}
