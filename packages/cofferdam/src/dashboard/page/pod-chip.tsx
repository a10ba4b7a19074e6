import { signal } from '@preact/signals'
import type { HeldBy } from '../../explain/node-verdict.ts'
import type { PodState, PodView } from '../server/cluster-view.ts'
import { LockMark } from './lock-mark.tsx'

export const podStateWords: Record<PodState, string> = {
  ready: 'ready',
  starting: 'starting',
  pending: 'pending',
  leaving: 'leaving',
  failed: 'failed',
  succeeded: 'done',
  unknown: 'unknown',
}

export interface PointedPod {
  readonly id: string
  readonly app: string
  readonly heldBy: HeldBy | undefined
  /** Where the chip is on the screen. */
  readonly box: { readonly left: number; readonly top: number; readonly bottom: number }
}

/** The pod under the pointer or the keyboard focus. Its siblings light up too, so that one sees where they stand. */
export const pointedPod = signal<PointedPod | undefined>(undefined)

export function PodChip({ pod, heldBy }: { pod: PodView; heldBy?: HeldBy | undefined }) {
  const isDaemon = pod.ownerKind === 'DaemonSet'
  const app = `${pod.namespace}/${pod.app}`
  const pointed = pointedPod.value
  const classes = [
    'chip',
    pod.state,
    isDaemon ? 'daemon' : '',
    heldBy === undefined ? '' : 'held',
    pointed?.app === app ? 'kin' : '',
  ]
  const point = (event: { currentTarget: HTMLElement }) => {
    const { left, top, bottom } = event.currentTarget.getBoundingClientRect()
    pointedPod.value = { id: pod.id, app, heldBy, box: { left, top, bottom } }
  }
  const leave = () => {
    if (pointedPod.value?.id === pod.id) pointedPod.value = undefined
  }
  const held = heldBy === undefined ? '' : `, may not go now: ${heldText(heldBy)}`
  const suffix = !isDaemon && pod.name.startsWith(`${pod.app}-`) ? (pod.name.split('-').at(-1) ?? '') : ''
  return (
    <li>
      <button
        type="button"
        class={classes.filter(Boolean).join(' ')}
        aria-describedby={pointed?.id === pod.id ? 'pod-detail' : undefined}
        onMouseEnter={point}
        onFocus={point}
        onMouseLeave={leave}
        onBlur={leave}
        onKeyDown={(event) => {
          if (event.key === 'Escape') pointedPod.value = undefined
        }}
      >
        <span class="dot" aria-hidden="true" />
        <span class="app">{pod.app}</span>
        {suffix === '' ? null : <span class="suffix">{suffix}</span>}
        {heldBy === undefined ? null : <LockMark />}
        <span class="unseen">
          , {podStateWords[pod.state]}
          {held}
        </span>
      </button>
    </li>
  )
}

/** `pdb/shop/orders, held by ann (AppLocked)` */
export function heldText({ object, reason, holder }: HeldBy): string {
  return holder === object ? `${object} (${reason})` : `${object}, held by ${holder} (${reason})`
}

export function More({ count }: { count: number }) {
  return count > 0 ? <li class="none">and {count} more</li> : null
}
