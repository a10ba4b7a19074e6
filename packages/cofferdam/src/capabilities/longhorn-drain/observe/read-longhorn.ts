import { longhornNodes, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { type Attendance, attendanceOf } from '../../../shared/attendance.ts'
import type { ReadPorts } from '../../ports.ts'
import { parseLonghorn } from '../domain/parse-longhorn.ts'
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
export async function readLonghorn(read: LonghornReadPorts): Promise<LonghornView | undefined> {
  const { informers, clock, notSeen } = read
  const nodes = informers.openOptional('longhorn/nodes', { type: longhornNodes })
  const settings = informers.openOptional('longhorn/settings', { type: longhornSettings })
  await informers.settled()
  if ([...nodes.list(), ...settings.list()].length === 0) return undefined
  const views = openLonghornViews(read)
  await informers.settled()
  return viewOfLonghorn(views, { clock, notSeen, attendance: async () => attendanceOf(await read.operator()) })
}

/** What the drain policy makes of what these views have. Undefined where there is no Longhorn, or not all of it can be read. */
export async function viewOfLonghorn(
  views: LonghornViews,
  {
    clock,
    notSeen,
    attendance,
  }: Pick<LonghornReadPorts, 'clock' | 'notSeen'> & { readonly attendance: () => Promise<Attendance> },
): Promise<LonghornView | undefined> {
  if (unreadViews(views).length > 0) return undefined
  const found = observeLonghorn(views, clock.now())
  if (!found.known) {
    if (!notSeen.includes(found.why)) notSeen.push(found.why)
    return viewSeveralLonghorns(found.why, clock.now())
  }
  if (found.value.nodes.length === 0) return undefined
  const snapshot = parseLonghorn(found.value)
  return viewLonghorn(snapshot, snapshot.settings.mode === 'observe' ? {} : await attendance())
}
