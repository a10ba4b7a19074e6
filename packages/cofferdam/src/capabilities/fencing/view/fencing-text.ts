import { ageText } from '../../../shared/age-text.ts'
import { fencedText } from '../domain/fenced-node.ts'
import type { FencingAnswer, RemediatorAnswer } from './fencing-answer.ts'
import type { FencingSummary, PlannedNode } from './summarize-fencing.ts'

const shownAtMost = 5

/** What is said of one node's machine, for people: the verdict first. */
export function fencingLines(answer: FencingAnswer, now: string): string[] {
  const { machine, mayFence, reason, explanation, wayOut, underWay } = answer
  const isFenceable = machine !== undefined || answer.remediators.length > 0
  const who = machine === undefined ? (isFenceable ? 'this node' : 'no Machine has this node') : `machine ${machine}`
  const verdict = mayFence ? 'may be fenced now' : 'may not be fenced now'
  return [
    `${who}: ${isFenceable ? `${verdict}: ` : ''}${explanation} (${reason})`,
    ...(wayOut === undefined ? [] : [wayOut]),
    ...(underWay === undefined ? [] : [`being fenced${forText(underWay.since, now)}, for ${underWay.cluster}`]),
    ...answer.budgets.map(
      ({ budget, allowed, healthy, expected }) =>
        `budget ${budget}: ${allowed === 0 ? 'lets no machine go' : 'lets one machine go'}, ${healthy} of ${expected} machines healthy`,
    ),
    ...answer.gates.map((gate) => `kept by: ${gate}`),
    ...answer.remediators.slice(0, shownAtMost).map(remediatorText),
    ...moreOf(answer.remediators.length),
    ...(answer.isAttended === false ? [`it may be old: ${absenceText(answer.unattendedSince, now)}`] : []),
  ]
}

/** One line for each cluster, and one for each thing that is not as usual. */
export function fencingSummaryLines(summary: FencingSummary, now: string): string[] {
  const { clusters, underWay, planned, held, remediators, problems } = summary
  const deaf = remediators.filter(({ listens }) => !listens)
  const named = new Set(deaf.map(({ remediator }) => remediator))
  return [
    ...clusters.map(
      ({ cluster, allowed, reason, explanation }) =>
        `${cluster}: ${allowed === undefined ? '' : allowed === 0 ? 'no machine with running OSDs may go' : 'one machine with running OSDs may go'}${allowed === undefined ? '' : ': '}${explanation} (${reason})`,
    ),
    ...shortened(underWay, ({ machine, node, since }) => {
      return `${fencedText({ machine, node: node === machine ? '' : node })} is being fenced${forText(since, now)}`
    }),
    ...shortened(planned, plannedText),
    ...shortened(held, ({ node, reason }) => `node ${node} is not Ready and is kept (${reason})`),
    ...shortened(deaf, remediatorText),
    ...shortened(
      problems.filter(({ object }) => !named.has(object)),
      ({ object, problem }) => `problem: ${object}: ${problem}`,
    ),
  ]
}

function plannedText({ node, request, by, awaySince, until = '', returnWithin, isOver }: PlannedNode): string {
  const who = by === `nodedisruption/${request}` ? by : `${by}, nodedisruption/${request}`
  if (isOver) return `node ${node} is not back from its reboot (${who}), and is not protected since ${until}`
  const deadline = until === '' ? '' : `, and not after ${until}`
  const end = awaySince === undefined ? `for ${returnWithin} once it is away${deadline}` : `until ${until}`
  return `node ${node} is taken out for a reboot (${who}) and protected from remediation ${end}`
}

function remediatorText({ remediator, listens, why = '', pausedBy }: RemediatorAnswer): string {
  const paused = pausedBy === undefined ? '' : `, paused by ${pausedBy}`
  return listens ? `managed by ${remediator}${paused}` : `${remediator} does not listen: ${why}${paused}`
}

function shortened<T>(items: readonly T[], text: (item: T) => string): string[] {
  return [...items.slice(0, shownAtMost).map(text), ...moreOf(items.length)]
}

function moreOf(count: number): string[] {
  return count > shownAtMost ? [`and ${count - shownAtMost} more; -o json shows all`] : []
}

function absenceText(since: string | undefined, now: string): string {
  const age = ageText(since, now)
  return age === undefined ? 'no operator is running' : `no operator has been running for ${age}`
}

function forText(since: string, now: string): string {
  const age = ageText(since, now)
  return age === undefined ? '' : ` for ${age}`
}
