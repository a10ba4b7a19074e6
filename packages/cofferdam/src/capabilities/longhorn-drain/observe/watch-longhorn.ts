import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import { once } from '../../../shared/once.ts'
import type { LonghornView } from '../view/longhorn-view.ts'
import { viewOfLonghorn } from './read-longhorn.ts'
import { type LonghornViewPorts, openLonghornViews } from './views.ts'

export interface WatchLonghornPorts extends LonghornViewPorts {
  readonly clock: Clock
  readonly attendance: (signal: AbortSignal) => Promise<Attendance>
}

/** All of Longhorn is judged for one answer, and drains ask for each pod. */
const freshMs = 1_000

/** What the drain policy makes of Longhorn, for whoever asks again and again. Its watches begin with the first question. */
export function watchLonghorn(ports: WatchLonghornPorts) {
  const { clock } = ports
  const views = once(() => openLonghornViews(ports))
  let judged: { readonly atMs: number; readonly view: Promise<LonghornView | undefined> } | undefined
  return (signal: AbortSignal): Promise<LonghornView | undefined> => {
    const nowMs = clock.now()
    if (judged !== undefined && nowMs - judged.atMs < freshMs) return judged.view
    const view = viewOfLonghorn(views(), { clock, notSeen: [], attendance: () => ports.attendance(signal) })
    judged = { atMs: nowMs, view }
    view.catch(() => {
      judged = undefined
    })
    return view
  }
}
