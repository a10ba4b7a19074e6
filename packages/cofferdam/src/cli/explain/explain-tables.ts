import type { HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import type { VolumeExplanation } from '../../explain/explain-volume.ts'
import type { ZoneExplanation } from '../../explain/explain-zone.ts'
import type { BudgetExplanation, DrainFlag, NodeExplanation, PodAnswer } from '../../explain/explanation.ts'
import { ageText } from '../../shared/age-text.ts'
import { listText } from '../../shared/list-text.ts'
import type { TextStyle } from '../../shared/paint.ts'
import { renderTable } from '../table.ts'
import type { Explained } from './question.ts'

/** What belongs in columns: the pods, copies or nodes that the answer is made of. */
export function tablesOf(explained: Explained, style: TextStyle): string[] {
  switch (explained.kind) {
    case 'pdb':
      return explained.pods.length === 0 ? [] : [renderCovered(explained, style)]
    case 'zone':
      return [renderMembers(explained, style)]
    case 'volume':
      return explained.copies.length === 0 ? [] : [renderCopies(explained, style)]
    case 'deployment':
    case 'statefulset':
    case 'daemonset':
    case 'replicaset':
    case 'pvc':
      return explained.pods.length === 0 ? [] : [renderPodsOnNodes(explained.pods, style)]
    case 'node':
      return nodeTables(explained, style)
    default:
      return []
  }
}

function nodeTables({ pods, mayGo, command }: NodeExplanation, style: TextStyle): string[] {
  const leavers = pods.some(({ verdict }) => verdict !== 'stays')
  return [
    ...(pods.length === 0 ? [] : [renderPods(pods, style)]),
    ...flagNotes(pods),
    ...(mayGo && leavers ? [`To drain it: ${style.paint('bold', command)}`] : []),
  ]
}

export const holdWords = {
  Granted: 'held',
  Acting: 'in use',
  Orphaned: 'orphaned',
  Waiting: 'waited for',
  AppLock: 'locked',
  Ignored: 'ignored',
} as const

/** What the blockers have not said yet. */
export function holdsTable({ holds, blockers }: Explained, { paint, now }: TextStyle): string[] {
  const isPrinted = ({ key, holder }: HoldAnswer) =>
    blockers.some((blocker) => blocker.object === key && blocker.holder === holder)
  const rest = holds.filter((each) => !isPrinted(each))
  if (rest.length === 0) return []
  return [
    renderTable(
      ['KEY', 'STATE', 'BY', 'FOR', 'UNTIL', 'WHAT'],
      rest.map(({ key, scope, state, holder, since, until = '', says }) => [
        scope === undefined ? key : `${key} (${scope})`,
        paint(state === 'Ignored' || state === 'Orphaned' ? 'yellow' : 'cyan', holdWords[state]),
        holder,
        ageText(since, now) ?? '',
        until,
        says,
      ]),
    ),
  ]
}

function renderMembers({ nodes }: ZoneExplanation, { paint }: TextStyle): string {
  return renderTable(
    ['NODE', 'ANSWER', 'WHY'],
    nodes.map(({ node, isReady, mayGo, summary, blockedBy }) => [
      node,
      mayGo ? paint('green', 'free') : paint('red', 'blocked'),
      [
        ...(isReady ? [] : ['NotReady.']),
        summary,
        ...(blockedBy.length === 0 ? [] : [`Waits for ${listText(blockedBy)}`]),
      ].join(' '),
    ]),
  )
}

function renderCopies({ copies, heldNodes }: VolumeExplanation, { paint }: TextStyle): string {
  const colours = { healthy: 'green', failed: 'red', building: 'yellow' } as const
  return renderTable(
    ['COPY', 'NODE', 'STATE', 'NODE MAY GO'],
    copies.map(({ replica, node, state }) => [
      replica,
      node ?? '',
      paint(colours[state], state),
      node === undefined ? '' : heldNodes.includes(node) ? paint('red', 'no') : paint('green', 'yes'),
    ]),
  )
}

function renderPodsOnNodes(pods: readonly PodAnswer[], { paint }: TextStyle): string {
  return renderTable(
    ['POD', 'NODE', 'ANSWER', 'WHY'],
    pods.map(({ pod, node = '', verdict, explanation }) => [
      pod,
      node,
      paint(verdictColours[verdict], verdictWords[verdict]),
      explanation,
    ]),
  )
}

const verdictWords = { goes: 'goes', 'in-turn': 'queued', waits: 'waits', leaving: 'leaving', stays: 'stays' }
const verdictColours = { goes: 'green', 'in-turn': 'green', waits: 'red', leaving: 'yellow', stays: 'dim' } as const

function renderPods(pods: readonly PodAnswer[], { paint }: TextStyle): string {
  return renderTable(
    ['POD', 'ANSWER', 'WHY'],
    pods.map(({ pod, verdict, explanation }) => [
      pod,
      paint(verdictColours[verdict], verdictWords[verdict]),
      explanation,
    ]),
  )
}

function renderCovered({ pods }: BudgetExplanation, { paint, now }: TextStyle): string {
  return renderTable(
    ['POD', 'NODE', 'HEALTHY', 'STATE', 'FOR'],
    pods.map(({ pod, node = '', isHealthy, says, since }) => [
      pod,
      node,
      isHealthy ? paint('green', 'yes') : paint('red', 'no'),
      says,
      ageText(since, now) ?? '',
    ]),
  )
}

const flagMeanings: Partial<Record<DrainFlag, (pods: string) => string>> = {
  '--delete-emptydir-data': (pods) => `what is in the emptyDir volumes of ${pods} is lost`,
  '--force': (pods) => `no controller brings back ${pods}`,
}

function flagNotes(pods: readonly PodAnswer[]): string[] {
  const lines = Object.entries(flagMeanings).flatMap(([flag, meaning]) => {
    const names = pods.filter(({ needs }) => needs.includes(flag as DrainFlag)).map(({ pod }) => pod)
    return names.length === 0 ? [] : [`${flag}: ${meaning(listText(names))}`]
  })
  return lines.length === 0 ? [] : [lines.join('\n')]
}
