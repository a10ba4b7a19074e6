import type { HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import type { Shown } from '../../capabilities/shown.ts'
import { ageText } from '../../shared/age-text.ts'
import { listText } from '../../shared/list-text.ts'
import type { OperatorStatus } from '../../shared/operator-status.ts'
import type { Paint } from '../../shared/paint.ts'
import { nodeStateText } from '../explain/explain-text.ts'
import { drainTable, type TableContent } from '../get/drain-table.ts'
import { lockTable } from '../get/lock-table.ts'
import { pageWidth, renderTable } from '../table.ts'
import { wrapText } from '../wrap-text.ts'
import type { Status } from './status-observe.ts'

const rowsShown = 10
const warningsShown = 5
const titleWidth = 10
/** So many refusals are printed in full; more are one line. */
const refusalsShown = 2

export interface StatusStyle {
  readonly list: readonly Shown<never>[]
  readonly paint: Paint
  /** Lines are as long as what they say. */
  readonly isWide?: boolean
}

/** One screen: the worst first, a few lines that say it all, then a table for each thing that is not as usual. */
export function renderStatus(status: Status, style: StatusStyle): string {
  const { isWide = false, paint } = style
  const tableStyle = { now: status.observedAt, paint, isWide }
  return [
    headOf(status, style),
    ...tableOf(drainTable({ drains: status.drains, otherDrains: [] }, tableStyle), isWide),
    ...tableOf(nodeTable(status), isWide),
    ...budgetTable(status, isWide),
    ...tableOf(lockTable(status.locks, tableStyle), isWide),
    ...tableOf(warningTable(status), isWide),
    ...notSeenText(status, paint, isWide),
  ].join('\n\n')
}

function headOf(status: Status, { list, paint, isWide = false }: StatusStyle): string {
  const { nodes, headline, unread = [] } = status
  const count = (kind: string, number: number, noun: string) =>
    unread.includes(kind) ? `unknown ${noun}s` : counted(number, noun)
  const lines: [string, string][] = [
    ['Status', paint(headlineColours[headline.state], headline.says)],
    ['Cluster', `${status.server}, ${count('nodes', nodes.length, 'node')}, ${count('pods', status.pods, 'pod')}`],
    ['Operator', operatorText(status.operator, status.observedAt, paint)],
    ['Nodes', unread.includes('nodes') ? paint('yellow', 'unknown') : nodesText(status, paint)],
    [
      'Budgets',
      unread.includes('poddisruptionbudgets') ? paint('yellow', 'unknown') : budgetsText(status.budgets, paint),
    ],
    ...(status.drains.length === 0 ? [] : [['Drains', drainsText(status, paint)] as [string, string]]),
    ...(status.locks.length === 0 ? [] : [['Locks', locksText(status, paint)] as [string, string]]),
    ...list.flatMap((each) => shownLines(each, status, paint)),
  ]
  const width = Math.max(titleWidth, ...lines.map(([title]) => title.length + 2))
  return lines.flatMap(([title, text]) => titled(title.padEnd(width), text, { paint, isWide })).join('\n')
}

const headlineColours = {
  blocked: 'red',
  degraded: 'yellow',
  unknown: 'yellow',
  working: 'cyan',
  calm: 'green',
} as const

function titled(title: string, text: string, { paint, isWide }: Pick<Required<StatusStyle>, 'paint' | 'isWide'>) {
  const [first = '', ...more] = isWide ? [text] : wrapText(text, pageWidth - title.length - 2)
  const head = `${paint('bold', title)}${first}`.trimEnd()
  return [head, ...more.map((line) => `${' '.repeat(title.length + 2)}${line}`)]
}

function notSeenText({ notSeen }: Status, paint: Paint, isWide: boolean): string[] {
  const title = paint('yellow', 'not seen:')
  if (isWide || notSeen.length <= refusalsShown) {
    const texts = notSeen.map((what) => `${title} ${what}`)
    return isWide ? texts : texts.map((text) => wrapped(text))
  }
  const names = notSeen.map((what) => what.split(': ', 1)[0] as string)
  return [wrapped(`${title} ${names.join(', ')}; -o wide says why`)]
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

function wrapped(text: string): string {
  return wrapText(text, pageWidth - 2).join('\n  ')
}

function nodeTable({ nodes, observedAt }: Status): TableContent {
  const unusual = nodes.filter(({ isReady, isCordoned }) => !isReady || isCordoned)
  return {
    headings: ['NODE', 'STATE'],
    rows: unusual
      .toSorted((a, b) => Number(a.isReady) - Number(b.isReady))
      .map((node) => [node.name, nodeStateText(node, { now: observedAt })]),
  }
}

/** Budgets that Ceph or Longhorn holds all say the same, and the lines about storage have said it. */
function budgetTable({ budgets, storage = [], observedAt }: Status, isWide: boolean): string[] {
  const clusters = new Set(storage.map(({ namespace, name }) => `cephcluster/${namespace}/${name}`))
  const isLonghorns = (holder: string) => holder.startsWith('longhorn/')
  const isListedElsewhere = (holder: string) => clusters.has(holder) || isLonghorns(holder)
  const holdersUnder = (under: string, isSo: (holder: string) => boolean) => {
    const names = budgets.blocked.filter(({ holder }) => isSo(holder)).map(({ budget }) => budget)
    if (names.length === 0) return []
    const text = `Held as said under ${under}: ${isWide ? names.join(', ') : listText(names)}`
    return [isWide ? text : wrapped(text)]
  }
  const rows = budgets.blocked
    .filter(({ holder }) => !isListedElsewhere(holder))
    .map(({ budget, reason, since, explanation, holder }) => [
      budget,
      reason,
      ageText(since, observedAt) ?? '',
      holder,
      explanation,
    ])
  return [
    ...tableOf({ headings: ['BUDGET', 'REASON', 'FOR', 'HELD BY', 'WHY'], rows }, isWide),
    ...holdersUnder('Storage', (holder) => clusters.has(holder)),
    ...holdersUnder('Longhorn', isLonghorns),
  ]
}

function warningTable({ warnings, observedAt }: Status): TableContent {
  return {
    headings: ['WARNING', 'OBJECT', 'AGO', 'MESSAGE'],
    rows: warnings
      .slice(0, warningsShown)
      .map(({ reason, object, at, message, count }) => [
        count > 1 ? `${reason} (x${count})` : reason,
        object,
        ageText(at, observedAt) ?? '',
        message,
      ]),
  }
}

function tableOf({ headings, rows, whole = 1 }: TableContent, isWide: boolean): string[] {
  if (rows.length === 0) return []
  if (isWide) return [renderTable(headings, rows)]
  const more = rows.length - rowsShown
  const table = renderTable(headings, rows.slice(0, rowsShown), { width: pageWidth, whole })
  return [more > 0 ? `${table}\n… and ${more} more; -o wide shows all` : table]
}

function forText(since: string | undefined, now: string): string {
  const age = ageText(since, now)
  return age === undefined ? '' : ` for ${age}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
