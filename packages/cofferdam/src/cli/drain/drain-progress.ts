import type { DisruptionAnswer, DisruptionObstacle } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { ageText } from '../../shared/age-text.ts'
import { listText } from '../../shared/list-text.ts'
import type { Paint } from '../../shared/paint.ts'

/** What is new since the last poll, a line for each thing. */
export function progressLines(
  before: DisruptionAnswer | undefined,
  now: DisruptionAnswer,
  { paint, at }: { readonly paint: Paint; readonly at: string },
): string[] {
  const lines: string[] = []
  if (before?.phase !== now.phase || before.isCancelled !== now.isCancelled) {
    const word = now.isCancelled ? 'Cancelled' : now.phase
    lines.push(`${paint('bold', word.padEnd(11))}${now.explanation}`)
  }
  const fresh = (names: readonly string[], earlier: readonly string[] = []) =>
    names.filter((name) => !earlier.includes(name))
  const detail = (text: string) => lines.push(`${' '.repeat(11)}${text}`)
  const staying = fresh(now.stays, before?.stays)
  if (staying.length > 0) detail(`${listText(staying)} ${staying.length === 1 ? 'stays' : 'stay'} on the node`)
  const leaving = fresh(now.evicted, before?.evicted)
  if (leaving.length > 0) detail(`evicted: ${listText(leaving)}`)
  if (now.hasFallenBack && before?.hasFallenBack !== true) {
    detail(`${paint('yellow', 'fell back:')} not all locks were acquired in time, every pod is evicted`)
  }
  const isPrinted = (obstacle: DisruptionObstacle) =>
    before?.blockedBy.some(
      (each) => each.object === obstacle.object && each.reason === obstacle.reason && each.holder === obstacle.holder,
    ) === true
  for (const obstacle of now.blockedBy)
    if (!isPrinted(obstacle) && !isSaid(obstacle)) detail(obstacleText(obstacle, { paint, at }))
  for (const { object, says } of now.warnings) {
    const isKnown = before?.warnings.some((each) => each.object === object && each.says === says) === true
    if (!isKnown) detail(`${paint('yellow', 'warning:')} ${object} ${says}`)
  }
  return lines
}

/** What the phase and the names of the evicted have said. */
export function isSaid({ reason }: DisruptionObstacle): boolean {
  return reason === 'NodeMayGo' || reason === 'PodIsLeaving'
}

export function obstacleText(
  { object, reason, holder, since, wayOut }: DisruptionObstacle,
  { paint, at }: { readonly paint: Paint; readonly at: string },
): string {
  const age = ageText(since, at)
  const held = age === undefined ? '' : ` for ${age}`
  return `waits for ${paint('bold', object)} (${reason}), held by ${holder}${held}. ${wayOut}`
}

/** The one line that replaces itself on a terminal. */
export function progressLine(now: DisruptionAnswer, at: string): string {
  const age = ageText(now.since, at)
  const waits = now.blockedBy.filter((each) => !isSaid(each)).map(({ object }) => object)
  const waiting = waits.length === 0 ? '' : `, waits for ${listText(waits)}`
  return `${now.node}: ${now.phase}${age === undefined ? '' : ` for ${age}`}${waiting} …`
}
