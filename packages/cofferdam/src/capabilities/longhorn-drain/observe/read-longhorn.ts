import { longhornInstanceManagers, longhornNodes, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import { type Attendance, attendanceOf } from '../../../shared/attendance.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { ReadPorts } from '../../ports.ts'
import { asDecided } from '../domain/as-decided.ts'
import { parseLonghorn } from '../domain/parse-longhorn.ts'
import { partOfLonghorn } from '../domain/part-of-longhorn.ts'
import type { LonghornSnapshot } from '../domain/snapshot.ts'
import { managerBehind } from '../view/longhorn-budget.ts'
import { type LonghornView, viewLonghorn } from '../view/longhorn-view.ts'
import { viewSeveralLonghorns } from '../view/several-longhorns.ts'
import { type LonghornViews, observeLonghorn, unreadViews } from './observe.ts'
import { type LonghornViewPorts, openLonghornViews } from './views.ts'

export interface LonghornReadPorts extends ReadPorts, Pick<LonghornViewPorts, 'views'> {}

/**
 * All of Longhorn, and what the drain policy makes of it. Undefined where there is none.
 *
 * Fails closed: without one of the kinds that hold nodes there is no answer, rather than one that is too kind, and where Longhorn is in
 * several namespaces none but that; what could not be read, or judged, is noted.
 */
export function readLonghorn(read: LonghornReadPorts): Promise<LonghornView | undefined> {
  const before = answers.get(read.informers)
  if (before !== undefined) return before
  const answer = judgeLonghorn(read)
  answers.set(read.informers, answer)
  return answer
}

/**
 * The same where Longhorn is on one of these nodes, judged from no more than they have a part in: nothing is said of other nodes. Undefined
 * where it is on none, without reading its volumes.
 *
 * @param budgets also about the nodes of instance managers that these cover
 */
export async function readLonghornOn(
  names: readonly string[],
  budgets: readonly PodDisruptionBudget[],
  read: LonghornReadPorts,
): Promise<LonghornView | undefined> {
  const { informers } = read
  const nodes = informers.openOptional('longhorn/nodes', { type: longhornNodes })
  const managers = informers.openOptional('longhorn/instancemanagers', { type: longhornInstanceManagers })
  await informers.settled()
  if (!nodes.synced || !managers.synced) return readLonghorn(read)
  const places = new Set([
    ...[...nodes.list()].map(({ metadata }) => metadata.name),
    ...[...managers.list()].map(({ spec }) => spec?.nodeID ?? ''),
  ])
  if (!names.some((name) => places.has(name))) return undefined
  const covered = new Set(budgets.flatMap((budget) => managerBehind(budget) ?? []))
  const behind = [...managers.list()].filter(({ metadata }) => covered.has(metadata.name))
  return judgeLonghorn(read, new Set([...names, ...behind.map(({ spec }) => spec?.nodeID ?? '')]))
}

/** Several parts of one answer ask the same question: what was listed for it is judged once. */
const answers = new WeakMap<Informers, Promise<LonghornView | undefined>>()

async function judgeLonghorn(read: LonghornReadPorts, nodes?: ReadonlySet<string>): Promise<LonghornView | undefined> {
  const views = await readViews(read)
  if (views === undefined) return undefined
  const { clock, notSeen } = read
  const attendance = async () => attendanceOf(await read.operator())
  return viewOfLonghorn(views, { clock, notSeen, attendance, ...(nodes && { nodes }) })
}

/** The same without a decision, for those who ask about one node after the other. */
export async function readLonghornSnapshot(read: LonghornReadPorts): Promise<Observed<LonghornSnapshot> | undefined> {
  const views = await readViews(read)
  if (views === undefined) return undefined
  const found = seeLonghorn(views, read)
  return found?.known === true ? known(asDecided(found.value)) : found
}

async function readViews(read: LonghornReadPorts): Promise<LonghornViews | undefined> {
  const { informers } = read
  const nodes = informers.openOptional('longhorn/nodes', { type: longhornNodes })
  const settings = informers.openOptional('longhorn/settings', { type: longhornSettings })
  await informers.settled()
  if ([...nodes.list(), ...settings.list()].length === 0) return undefined
  const views = openLonghornViews(read)
  await informers.settled()
  return views
}

/** What the drain policy makes of what these views have. Undefined where there is no Longhorn, or not all of it can be read. */
export async function viewOfLonghorn(
  views: LonghornViews,
  {
    clock,
    notSeen,
    attendance,
    nodes,
  }: Pick<LonghornReadPorts, 'clock' | 'notSeen'> & {
    readonly attendance: () => Promise<Attendance>
    /** Only these are asked about. */
    readonly nodes?: ReadonlySet<string>
  },
): Promise<LonghornView | undefined> {
  const found = seeLonghorn(views, { clock, notSeen, ...(nodes && { nodes }) })
  if (found === undefined) return undefined
  if (!found.known) return viewSeveralLonghorns(found.why, clock.now())
  const snapshot = found.value
  return viewLonghorn(snapshot, snapshot.settings.mode === 'observe' ? {} : await attendance())
}

function seeLonghorn(
  views: LonghornViews,
  { clock, notSeen, nodes }: Pick<LonghornReadPorts, 'clock' | 'notSeen'> & { readonly nodes?: ReadonlySet<string> },
): Observed<LonghornSnapshot> | undefined {
  if (unreadViews(views).length > 0) return undefined
  const found = observeLonghorn(views, clock.now())
  if (!found.known) {
    if (!notSeen.includes(found.why)) notSeen.push(found.why)
    return found
  }
  if (found.value.nodes.length === 0) return undefined
  return known(parseLonghorn(nodes === undefined ? found.value : partOfLonghorn(found.value, nodes)))
}
