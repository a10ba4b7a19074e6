import {
  type LonghornReplica,
  type LonghornVolume,
  longhornReplicas,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Views } from '../actor.ts'
import { isSet } from './volume-facts.ts'

/**
 * Whether a volume shares the blocks of another. As in 1.10.0 to 1.12.0 such a volume keeps the replicas that it began with: none is
 * evicted, rebuilt or balanced, and its node is not empty before the volume is deleted. 1.12.1 moves those that were made by itself.
 */
export function isLinkedClone(volume: LonghornVolume | undefined): boolean {
  return volume?.spec?.cloneMode === 'linked-clone'
}

/** The disks that its replicas can be on: those with a whole copy of what it was made from. Undefined: it is no linked clone. */
export function disksOfSource(views: Views, volume: LonghornVolume): string[] | undefined {
  if (!isLinkedClone(volume)) return undefined
  const [, source = ''] = /^(?:vol|snap):\/\/([^/]+)/.exec(volume.spec?.dataSource ?? '') ?? []
  const ofVolume = views.of(longhornReplicas).indexBy('volume', ({ spec }) => [spec?.volumeName ?? ''])
  return [...ofVolume(source)].filter(isWhole).map(({ spec }) => spec?.diskID ?? '')
}

function isWhole({ spec }: LonghornReplica): boolean {
  return isSet(spec?.diskID) && isSet(spec?.healthyAt) && !isSet(spec?.failedAt)
}
