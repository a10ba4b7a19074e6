import { groupedBy } from '../../../shared/grouped-by.ts'
import type { DisruptionBlocker } from './decision.ts'
import type { HeldView } from './disruption-view.ts'
import { blockersOf, leavingBlocker } from './drain-blockers.ts'
import type { PodPlan } from './plan-pods.ts'
import type { PodFacts } from './snapshot.ts'

export interface CephLast {
  /** They may be evicted now. */
  readonly evicted: readonly PodFacts[]
  /** What the daemons of Ceph wait for that stay for now. */
  readonly waits: readonly DisruptionBlocker[]
}

export interface LeavingPods extends Pick<PodPlan, 'going'> {
  /** No responder has to be waited for. */
  readonly evictable: readonly PodFacts[]
  /** What keeps the pods that are left to their responders. */
  readonly responders: readonly DisruptionBlocker[]
}

/**
 * Daemons of Ceph beside OSDs are evicted when nothing else on the node is known to be kept: a drain that waits for a pod of somebody
 * else cannot end, and the copies on the node, its mon and its mgr serve for as long.
 *
 * Guarantees: no daemon of a Ceph keeps another of it, whichever goes first. Break-glass waits for nothing, nor does a node that is
 * away: what is on it serves nobody.
 */
export function decideCephLast(view: HeldView, { evictable, going, responders }: LeavingPods): CephLast {
  const { snapshot, breaksGlass } = view
  const storage = new Set(snapshot.storage.map(({ key }) => key.split('/')[1]))
  const withOsds = new Set(evictable.filter(({ isOsd }) => isOsd === true).map(({ namespace }) => namespace))
  const isCeph = ({ namespace }: PodFacts) => withOsds.has(namespace) && storage.has(namespace)
  const daemons = groupedBy(evictable.filter(isCeph), ({ namespace }) => namespace)
  if (daemons.size === 0 || breaksGlass || snapshot.node?.isReady !== true) return { evicted: evictable, waits: [] }
  const evicted = evictable.filter((pod) => !isCeph(pod))
  const [keeper] = [
    ...responders,
    ...evicted.flatMap((pod) => blockersOf(view, pod)),
    ...going.filter((pod) => !isCeph(pod) && isOverdue(view, pod)).map((pod) => leavingBlocker(view, pod)),
  ]
  if (keeper === undefined) return { evicted: evictable, waits: [] }
  return { evicted, waits: [...daemons.values()].map((those) => cephWaits(keeper, those)) }
}

function isOverdue({ nowMs }: Pick<HeldView, 'nowMs'>, { leaving }: PodFacts): boolean {
  return leaving?.endsMs !== undefined && leaving.endsMs < nowMs
}

function cephWaits({ object, holder, since }: DisruptionBlocker, daemons: readonly PodFacts[]): DisruptionBlocker {
  return {
    object,
    holder,
    since,
    reason: 'CephLeavesLast',
    wayOut: `Daemons of Ceph are evicted when ${object} keeps no pod of the node any more; until then they serve.`,
    pods: daemons.map(({ namespace, name }) => `${namespace}/${name}`),
  }
}
