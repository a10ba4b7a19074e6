import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
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

/**
 * What the drain policy makes of Longhorn, for whoever asks again and again. Its watches begin with the first question, which waits for
 * them, as long as its signal lets it.
 */
export function watchLonghorn(ports: WatchLonghornPorts) {
  const { clock } = ports
  const views = once(() => {
    const opened = openLonghornViews(ports)
    // A drain asks right after its cordon: what was judged a moment before it does not answer that.
    opened.kubeNodes.subscribe((change) => {
      if (change.type === 'changed' && isClosedToPods(change.value) !== isClosedToPods(change.previous))
        judged = undefined
    })
    return opened
  })
  const judge = async (signal: AbortSignal): Promise<LonghornView | undefined> => {
    const opened = views()
    // One after the other: all of them have begun, and Node.js warns of more than ten that listen to one signal.
    for (const view of Object.values(opened)) if (!view.synced) await view.whenSynced(signal)
    return viewOfLonghorn(opened, { clock, notSeen: [], attendance: () => ports.attendance(signal) })
  }
  let judged: { readonly atMs: number; readonly view: Promise<LonghornView | undefined> } | undefined
  return (signal: AbortSignal): Promise<LonghornView | undefined> => {
    const nowMs = clock.now()
    if (judged !== undefined && isWithin(nowMs, judged.atMs, freshMs)) return judged.view
    const view = judge(signal)
    judged = { atMs: nowMs, view }
    view.catch(() => {
      judged = undefined
    })
    return view
  }
}
