import {
  nooutText,
  type OwnNoout,
  placementGroupsText,
  quorumText,
} from '../capabilities/ceph-drain/view/ceph-facts-text.ts'
import type { StorageView } from '../shared/storage-view.ts'

/** How a Ceph cluster was when the operator polled it last, in words. What is not known says so. */
export interface CephState {
  readonly placementGroups: string
  readonly quorum: string
  /** Where it is set, and who set it. */
  readonly noout: string
}

export function cephStateOf(view: StorageView | undefined, ownOsds: OwnNoout['osds']): CephState {
  const { facts, noout = [] } = view ?? {}
  if (facts?.known === true) {
    return {
      placementGroups: placementGroupsText(facts.value),
      quorum: quorumText(facts.value),
      noout: nooutText(facts.value, { buckets: noout, osds: ownOsds }),
    }
  }
  const unknown = `unknown: ${facts?.why ?? 'no operator has recorded it'}`
  return { placementGroups: unknown, quorum: unknown, noout: unknown }
}
