import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { hasRooksBudgets, ownershipAnnotations } from '../../../safety/ceph-ownership.ts'
import type { UpdatedCluster } from './snapshot.ts'

interface Surroundings {
  readonly besideRook: boolean
}

/** Who owns the OSD Deployments of a cluster. */
export function updateModeOf(cluster: CephCluster, surroundings: Surroundings): UpdatedCluster['mode'] {
  if (areUpdatesOff(cluster, surroundings)) return 'off'
  return surroundings.besideRook ? 'beside-rook' : 'own'
}

/** Whoever switches the handling of disruptions off has no OSDs updated either. */
export function areUpdatesOff(cluster: CephCluster, { besideRook }: Surroundings): boolean {
  const isManaged = hasRooksBudgets(cluster)
  const { budgets, formerBudgets } = ownershipAnnotations
  const { [budgets]: choice, [formerBudgets]: former } = cluster.metadata.annotations ?? {}
  if (choice === 'manage' || (besideRook && isManaged)) return false
  if (former === 'false') return true
  return !besideRook && !isManaged && former !== 'true'
}
