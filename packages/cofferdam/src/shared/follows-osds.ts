import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

/** Daemons that go after the OSDs of their node: mons, mgrs, and those of a service that cannot move. */
export type OsdFollowers = 'mons' | 'mgrs' | 'services'

const daemonBudgets: Readonly<Record<string, readonly [OsdFollowers, string]>> = {
  'rook-ceph-mon-pdb': ['mons', 'rook-ceph-mon'],
  'rook-ceph-mgr-pdb': ['mgrs', 'rook-ceph-mgr'],
}

export function isServiceBudgetName(name: string): boolean {
  return /^rook-ceph-(mds|rgw|rbd-mirror|nfs|nvmeof|fs-mirror)-/.test(name)
}

/** Which daemons a budget of Cofferdam keeps until the OSDs on their nodes may go; undefined: it is no such budget. Rook's never does. */
export function followersOf({
  metadata,
  spec,
}: Pick<PodDisruptionBudget, 'metadata' | 'spec'>): OsdFollowers | undefined {
  if (spec.maxUnavailable !== 0 || metadata.labels?.['app.kubernetes.io/managed-by'] !== 'cofferdam') return undefined
  // A service by number says how many must stay; only one that goes after the OSDs says that none may go.
  if (isServiceBudgetName(metadata.name)) return 'services'
  const [followers, app] = daemonBudgets[metadata.name] ?? []
  return app !== undefined && spec.selector?.matchLabels?.['app'] === app ? followers : undefined
}

/** A mon that is down is a matter of the quorum, and then its budget is closed for that. */
export function areFollowing(followers: OsdFollowers, areAllHealthy: boolean): boolean {
  return followers !== 'mons' || areAllHealthy
}

/** @param open the failure domains that are open now, for people; '' where none is, or nobody knows */
export function explainFollowing(
  followers: OsdFollowers,
  open: string,
): { readonly explanation: string; readonly holder: string; readonly unblocks: string } {
  const who = followers === 'services' ? 'daemons that cannot move' : 'mons and mgrs'
  if (open === '') {
    return {
      explanation: `${who} beside OSDs go after the OSDs of their node, so that two drains cannot wait for each other`,
      holder: 'the OSDs on the same nodes',
      unblocks: 'the eviction of an OSD of the node; a drain of the whole node gets there by itself',
    }
  }
  return {
    explanation: `${who} beside OSDs go after them, and only ${open} is open now`,
    holder: open,
    unblocks: `on a drained node of ${open}, that its OSDs have left; elsewhere ${open} back with all its OSDs, and the placement groups clean; a drain of the node then continues by itself`,
  }
}
