import { longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { attendanceOf } from '../../../shared/attendance.ts'
import type { ReadPorts } from '../../ports.ts'
import { parseLonghorn } from '../domain/parse-longhorn.ts'
import { type LonghornView, viewLonghorn } from '../view/longhorn-view.ts'
import { observeLonghorn, unreadViews } from './observe.ts'
import { type LonghornViewPorts, openLonghornViews } from './views.ts'

export interface LonghornReadPorts extends ReadPorts, Pick<LonghornViewPorts, 'views'> {}

/**
 * All of Longhorn, and what the drain policy makes of it. Undefined where there is none.
 *
 * Fails closed: without one of the kinds that hold nodes there is no answer, rather than one that is too kind, nor where Longhorn is in
 * several namespaces; what could not be read, or judged, is noted.
 */
export async function readLonghorn(read: LonghornReadPorts): Promise<LonghornView | undefined> {
  const { informers, clock, notSeen } = read
  const own = informers.openOptional('longhorn/nodes', { type: longhornNodes })
  await informers.settled()
  if ([...own.list()].length === 0) return undefined
  const views = openLonghornViews(read)
  await informers.settled()
  if (unreadViews(views).length > 0) return undefined
  const found = observeLonghorn(views, clock.now())
  if (!found.known) {
    if (!notSeen.includes(found.why)) notSeen.push(found.why)
    return undefined
  }
  const snapshot = parseLonghorn(found.value)
  return viewLonghorn(snapshot, snapshot.settings.mode === 'observe' ? {} : attendanceOf(await read.operator()))
}
