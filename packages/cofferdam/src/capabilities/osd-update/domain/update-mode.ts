import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { managementMode } from '../../../safety/ceph-settings.ts'
import type { UpdatedCluster } from './snapshot.ts'

/** Who owns the OSD Deployments of a cluster. */
export function updateModeOf(
  cluster: CephCluster,
  surroundings: { readonly besideRook: boolean },
): UpdatedCluster['mode'] {
  if (managementMode(cluster, surroundings) === 'hand-back') return 'off'
  return surroundings.besideRook ? 'beside-rook' : 'own'
}
