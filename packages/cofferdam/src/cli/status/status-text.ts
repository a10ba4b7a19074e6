import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import type { Shown } from '../../capabilities/shown.ts'
import { ageText } from '../../shared/age-text.ts'
import { listText } from '../../shared/list-text.ts'
import type { OperatorStatus } from '../../shared/operator-status.ts'
import type { Paint } from '../../shared/paint.ts'
import { holdWords } from '../explain/explain-tables.ts'
import { nodeStateText } from '../explain/explain-text.ts'
import { renderTable } from '../table.ts'
import type { Status } from './status-observe.ts'

const rowsShown = 10
const warningsShown = 5
const messageWidth = 100
const screenWidth = 100

/** One screen: five lines that say it all, then a table for each thing that is not as usual. */
export function renderStatus(
  status: Status,
  { list, paint }: { readonly list: readonly Shown<never>[]; readonly paint: Paint },
): string {
  return [
    headOf(status, paint, list),
    ...nodeTable(status),
    ...drainTable(status, paint),
    ...lockTable(status, paint),
    ...budgetTable(status),
    ...warningTable(status),
  ]
    .concat(status.notSeen.map((what) => `${paint('yellow', 'not seen:')} ${what}`))
    .join('\n\n')
}

function headOf(status: Status, paint: Paint, list: readonly Shown<never>[]): string {
  const { nodes, budgets } = status
  const lines: [string, string][] = [
    ['Cluster', `${status.server}, ${counted(nodes.length, 'node')}, ${counted(status.pods, 'pod')}`],
    ['Operator', operatorText(status.operator, status.observedAt, paint)],
    ['Nodes', nodesText(status, paint)],
    ['Budgets', budgetsText(budgets, paint)],
    ...(status.drains.length === 0 ? [] : [['Drains', drainsText(status, paint)] as [string, string]]),
    ...(status.locks.length === 0 ? [] : [['Locks', locksText(status, paint)] as [string, string]]),
    ...list.flatMap((each) => shownLines(each, status, paint)),
  ]
  const width = Math.max(10, ...lines.map(([name]) => name.length + 2))
  return lines.map(([name, text]) => `${paint('bold', name.padEnd(width))}${text}`.trimEnd()).join('\n')
}

function shownLines({ field, title, lines }: Shown<never>, status: Status, paint: Paint): [string, string][] {
  const data = (status as object as Readonly<Partial<Record<string, unknown>>>)[field]
  if (data === undefined) return []
  return lines(data, { now: status.observedAt, paint }).flatMap((group) =>
    group.map((text, at): [string, string] => [at === 0 ? title : '', text]),
  )
}

function operatorText({ isRunning, leader, since, renewedAt }: OperatorStatus, now: string, paint: Paint): string {
  if (isRunning === undefined) return paint('yellow', 'unknown: its lease may not be read')
  if (isRunning) return `${paint('green', leader ?? '')} leads${forText(since, now)}`
  const last =
    leader === undefined ? '' : `; ${leader} led last, and has not renewed its lease${forText(renewedAt, now)}`
  return `${paint('red', 'no operator is running')}${last}`
}

function nodesText({ nodes }: Status, paint: Paint): string {
  const count = (isSo: (node: Status['nodes'][number]) => boolean) => nodes.filter(isSo).length
  const parts: [number, string, 'green' | 'yellow' | 'red'][] = [
    [count(({ isReady }) => isReady), 'ready', 'green'],
    [count(({ isReady }) => !isReady), 'not ready', 'red'],
    [count(({ drain }) => drain === 'CordonedOnly' || drain === 'DrainEnded'), 'cordoned', 'yellow'],
    [count(({ drain }) => drain === 'PodsLeaving' || drain === 'EvictionAttempted'), 'draining', 'yellow'],
    [count(({ drain }) => drain === 'DrainCompleted'), 'drained', 'yellow'],
  ]
  const shown = parts.filter(([number]) => number > 0)
  return shown.length === 0
    ? 'none'
    : shown.map(([number, word, colour]) => paint(colour, `${number} ${word}`)).join(', ')
}

function budgetsText({ total, blocked, keptOpen = 0 }: Status['budgets'], paint: Paint): string {
  if (total === 0) return 'none'
  const kept = keptOpen === 0 ? '' : `, ${keptOpen} of Longhorn's until their nodes are cordoned`
  if (blocked.length > 0) return `${total}, ${paint('red', `${blocked.length} allow no eviction`)}${kept}`
  const rest = keptOpen === 0 ? 'all allow an eviction' : 'none blocks an eviction now'
  return `${total}, ${paint('green', rest)}${kept}`
}

function drainsText({ drains }: Status, paint: Paint): string {
  const blocked = drains.filter(({ isBlocked }) => isBlocked).length
  const drained = drains.filter(({ phase }) => phase === 'Drained').length
  return [
    `${drains.length} under way`,
    ...(drained === 0 ? [] : [paint('green', `${drained} may go now`)]),
    ...(blocked === 0 ? [] : [paint('red', `${blocked} blocked`)]),
  ].join(', ')
}

function locksText({ locks }: Status, paint: Paint): string {
  const count = (...states: HoldAnswer['state'][]) => locks.filter(({ state }) => states.includes(state)).length
  const parts: [number, string][] = [
    [count('Granted', 'Acting'), `${counted(count('Granted', 'Acting'), 'key')} held by requests`],
    [count('AppLock'), `${counted(count('AppLock'), 'budget')} locked by owners`],
    [count('Orphaned'), paint('yellow', `${counted(count('Orphaned'), 'key')} orphaned`)],
    [count('Ignored'), paint('yellow', `${counted(count('Ignored'), 'lock')} ignored`)],
  ]
  return parts.flatMap(([number, text]) => (number === 0 ? [] : [text])).join(', ')
}

const drainHeadings = ['DRAIN', 'REQUEST', 'PHASE', 'FOR']

/** Within the screen. Names are not cut, since commands take them. What blocks a drain is a line of its own below it. */
function drainTable({ drains, observedAt }: Status, paint: Paint): string[] {
  const rows = drains.map(({ node, request, phase, since, isCancelled, requester = '', askedBy = requester }) => [
    node,
    request,
    isCancelled ? `${phase}, cancelled` : phase,
    ageText(since, observedAt) ?? '',
    askedBy,
  ])
  const taken = renderTable(drainHeadings, rows.slice(0, rowsShown))
  const room = screenWidth - Math.max(...taken.split('\n').map(({ length }) => length)) - 2
  return tableOf(
    [...drainHeadings, 'ASKED BY'],
    rows.map((row) => row.with(-1, cut(row.at(-1) ?? '', Math.max(room, 'ASKED BY'.length)))),
    drains.map(({ isBlocked, blockedBy }) => (isBlocked ? [`  ${paint('red', blockersText(blockedBy))}`] : [])),
  )
}

/** The first with its holder; `explain nodedisruption/NAME` has them all. */
function blockersText(blockedBy: DisruptionAnswer['blockedBy']): string {
  const [first, ...more] = blockedBy
  if (first === undefined) return ''
  const rest = more.length === 0 ? '' : ` and ${more.length} more`
  const { object, reason, holder } = first
  return `${cut(`blocked by ${object} (${reason}, ${holder})`, screenWidth - 2 - rest.length)}${rest}`
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}

function lockTable({ locks, observedAt }: Status, paint: Paint): string[] {
  return tableOf(
    ['LOCK', 'STATE', 'BY', 'FOR', 'UNTIL', 'WHAT'],
    locks.map(({ key, scope, state, holder, since, until = '', says }) => [
      scope === undefined ? key : `${key} (${scope})`,
      paint(state === 'Orphaned' || state === 'Ignored' ? 'yellow' : 'cyan', holdWords[state]),
      holder,
      ageText(since, observedAt) ?? '',
      until,
      says,
    ]),
  )
}

function nodeTable({ nodes, observedAt }: Status): string[] {
  const unusual = nodes.filter(({ isReady, isCordoned }) => !isReady || isCordoned)
  return tableOf(
    ['NODE', 'STATE'],
    unusual.map((node) => [node.name, nodeStateText(node, { now: observedAt })]),
  )
}

/** Budgets that Ceph or Longhorn holds all say the same, and the lines about storage have said it. */
function budgetTable({ budgets, storage = [], observedAt }: Status): string[] {
  const clusters = new Set(storage.map(({ namespace, name }) => `cephcluster/${namespace}/${name}`))
  const isLonghorns = (holder: string) => holder.startsWith('longhorn/')
  const isListedElsewhere = (holder: string) => clusters.has(holder) || isLonghorns(holder)
  const holdersUnder = (under: string, isSo: (holder: string) => boolean) => {
    const names = budgets.blocked.filter(({ holder }) => isSo(holder)).map(({ budget }) => budget)
    return names.length === 0 ? [] : [`Held as said under ${under}: ${listText(names)}`]
  }
  const table = tableOf(
    ['BUDGET', 'REASON', 'FOR', 'WHY', 'HELD BY'],
    budgets.blocked
      .filter(({ holder }) => !isListedElsewhere(holder))
      .map(({ budget, reason, since, explanation, holder }) => [
        budget,
        reason,
        ageText(since, observedAt) ?? '',
        explanation,
        holder,
      ]),
  )
  return [
    ...table,
    ...holdersUnder('Storage', (holder) => clusters.has(holder)),
    ...holdersUnder('Longhorn', isLonghorns),
  ]
}

function warningTable({ warnings, observedAt }: Status): string[] {
  return tableOf(
    ['WARNING', 'OBJECT', 'AGO', 'MESSAGE'],
    warnings
      .slice(0, warningsShown)
      .map(({ reason, object, at, message, count }) => [
        count > 1 ? `${reason} (x${count})` : reason,
        object,
        ageText(at, observedAt) ?? '',
        cut(message, messageWidth),
      ]),
  )
}

/** `below`: lines under each row. */
function tableOf(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  below: readonly (readonly string[])[] = [],
): string[] {
  if (rows.length === 0) return []
  const more = rows.length - rowsShown
  const table = renderTable(headings, rows.slice(0, rowsShown))
    .split('\n')
    .flatMap((line, at) => [line, ...(below[at - 1] ?? [])])
    .join('\n')
  return [more > 0 ? `${table}\n… and ${more} more; -o json shows all` : table]
}

function forText(since: string | undefined, now: string): string {
  const age = ageText(since, now)
  return age === undefined ? '' : ` for ${age}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
