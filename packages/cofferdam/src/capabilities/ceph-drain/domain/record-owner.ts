import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { DrainState } from './state-map.ts'

export interface RecordOwner {
  readonly name: string
  readonly uid: string
}

/**
 * Who a record goes with. With its CephCluster, once nothing on it has to be undone in Ceph and nobody else keeps anything there: a record
 * that outlives its cluster would be read as that of the next one. A cluster whose object is deleted and put back finds its flags on record.
 */
export function recordOwners(
  present: readonly OwnerReference[] | undefined,
  { name, uid }: RecordOwner,
  { state, hasForeign }: { readonly state: DrainState | undefined; readonly hasForeign: boolean },
): readonly OwnerReference[] | undefined {
  const own: OwnerReference = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', name, uid }
  const others = (present ?? []).filter((owner) => !isSameJson(owner, own))
  const goesAlong = uid !== '' && !hasForeign && (state?.ownNoout ?? []).length === 0
  // Rook's own reference says the same, and the API server warns of two.
  const isSaid = others.some((owner) => owner.uid === uid)
  const owners = goesAlong && !isSaid ? [...others, own] : others
  return owners.length === 0 ? undefined : owners
}
