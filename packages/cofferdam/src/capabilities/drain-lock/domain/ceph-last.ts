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
 * Daemons of Ceph are evicted when nothing else on the node is known to be kept: a drain that waits for a pod of somebody else cannot
 * end, and the copies on the node, its mon and its mgr serve for as long. A mon that has left a closed node waits for the end of that
 * drain, and no other node gives its mon before: gone too early, it would make two drains wait for each other.
 *
 * Guarantees: no daemon of a Ceph keeps another of it, whichever goes first. A pod that only claims to be a mon keeps OSDs like any
 * other. Break-glass waits for nothing, nor does a node that is away: what is on it serves nobody.
 */
export function decideCephLast(view: HeldView, { evictable, going, responders }: LeavingPods): CephLast {
  const { snapshot, breaksGlass } = view
  const storage = new Set(snapshot.storage.map(({ key }) => key.split('/')[1]))
  const withOsds = new Set(evictable.filter(({ cephDaemon }) => cephDaemon === 'osd').map(({ namespace }) => namespace))
  const isCeph = ({ namespace }: PodFacts) => withOsds.has(namespace) && storage.has(namespace)
  const isAlone = (pod: PodFacts) => !isCeph(pod) && (pod.cephDaemon === 'mon' || pod.cephDaemon === 'mgr')
  const last = evictable.filter(isCeph)
  const alone = evictable.filter(isAlone)
  const all = { evicted: evictable, waits: [] }
  if (last.length + alone.length === 0 || breaksGlass || snapshot.node?.isReady !== true) return all
  const others = evictable.filter((pod) => !isCeph(pod) && !isAlone(pod))
  const [keeper] = [
    ...responders,
    ...others.flatMap((pod) => blockersOf(view, pod)),
    ...going.filter((pod) => !isCeph(pod) && isOverdue(view, pod)).map((pod) => leavingBlocker(view, pod)),
  ]
  if (keeper !== undefined) return { evicted: others, waits: cephWaits(keeper, [...alone, ...last]) }
  const [ofAlone] = alone.flatMap((pod) => blockersOf(view, pod))
  if (ofAlone === undefined || last.length === 0) return all
  return { evicted: [...others, ...alone], waits: cephWaits(ofAlone, last) }
}

function isOverdue({ nowMs }: Pick<HeldView, 'nowMs'>, { leaving }: PodFacts): boolean {
  return leaving?.endsMs !== undefined && leaving.endsMs < nowMs
}

/** One for each Ceph. */
function cephWaits(
  { object, holder, since }: DisruptionBlocker,
  daemons: readonly PodFacts[],
): readonly DisruptionBlocker[] {
  return [...groupedBy(daemons, ({ namespace }) => namespace).values()].map((those) => ({
    object,
    holder,
    since,
    reason: 'CephLeavesLast',
    wayOut: `Daemons of Ceph are evicted when ${object} keeps no pod of the node any more; until then they serve.`,
    pods: those.map(({ namespace, name }) => `${namespace}/${name}`),
  }))
}
