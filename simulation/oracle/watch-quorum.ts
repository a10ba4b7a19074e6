import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'

/** S9: no eviction that is let through leaves the monitors without a majority. */
export function watchQuorum(
  { views, world, description }: Pick<Stage, 'views' | 'world' | 'description'>,
  { blame }: Blame,
  excuses: Excuses,
): { taken(pod: { readonly namespace?: string; readonly name: string }, by: string): void } {
  const namespace = description.ceph?.namespace
  const isMon = ({ metadata }: Pod) => metadata.namespace === namespace && metadata.labels?.['app'] === 'rook-ceph-mon'
  const running = () =>
    [...views.of(pods).values()].filter(
      (pod) => isMon(pod) && isActive(pod) && isReady(pod) && world.kubelet.isOn(pod.spec.nodeName ?? ''),
    )
  let most = running().length

  return {
    taken({ namespace: at, name }, by) {
      const pod = views.of(pods).get(`${at}/${name}`)
      if (pod === undefined || !isMon(pod)) return
      most = Math.max(most, running().length)
      const left = running().filter(({ metadata }) => metadata.name !== name).length
      const isExcused = excuses.hasJustBroken() || excuses.isMeddledWith('mons') || excuses.isMeddledWith('storage')
      if (2 * left > most || isExcused || !isReady(pod)) return
      blame('S9', `${name} was taken by ${by}, and left ${left} of ${most} monitors`)
    },
  }
}
