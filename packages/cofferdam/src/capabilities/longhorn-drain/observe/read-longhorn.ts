import { longhornNamespace, longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
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
 * Fails closed: without one of the kinds that hold nodes there is no answer, rather than one that is too kind; what could
 * not be read is noted.
 */
export async function readLonghorn(read: LonghornReadPorts): Promise<LonghornView | undefined> {
  const { informers, clock } = read
  const own = informers.openOptional('longhorn/nodes', { type: longhornNodes, namespace: longhornNamespace })
  await informers.settled()
  if ([...own.list()].length === 0) return undefined
  const views = openLonghornViews(read)
  await informers.settled()
  if (unreadViews(views).length > 0) return undefined
  const snapshot = parseLonghorn(observeLonghorn(views, clock.now()))
  return viewLonghorn(snapshot, snapshot.settings.mode === 'observe' ? {} : attendanceOf(await read.operator()))
}
