import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'

export interface RecordOwner {
  readonly name: string
  readonly uid: string
}

/**
 * What a record goes with: with its CephCluster, once nothing on it has to be undone in Ceph and no one else keeps anything there. A record
 * that outlives its cluster would be read as that of the next one. A cluster whose object is deleted and put back finds its flags on record.
 */
export function recordOwners(
  present: readonly OwnerReference[] | undefined,
  { name, uid }: RecordOwner,
  { mustOutlive }: { readonly mustOutlive: boolean },
): readonly OwnerReference[] | undefined {
  const own: OwnerReference = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', name, uid }
  const others = (present ?? []).filter((owner) => !isSameJson(owner, own))
  const goesAlong = uid !== '' && !mustOutlive
  // Rook's own reference says the same, and the API server warns of two.
  const isSaid = others.some((owner) => owner.uid === uid)
  const owners = goesAlong && !isSaid ? [...others, own] : others
  return owners.length === 0 ? undefined : owners
}
