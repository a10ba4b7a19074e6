/** What must survive a restart, as Rook keeps it in the ConfigMap `rook-ceph-pdbstatemap`; ours are the last two. */
export interface DrainState {
  /** The failure domains that are open, as label values. Rook's key holds the first; `cofferdam.io/open-domains` all. */
  readonly openDomains: readonly string[]
  /** Whether noout is wanted on them: they were opened because of a drained node. */
  readonly wantsNoout: boolean
  /** When the placement groups were last seen unclean; undefined after a reset. */
  readonly lastUncleanAt: string | undefined
  /** By domain: when noout was first wanted on it. */
  readonly nooutSince: Readonly<Record<string, string>>
  /** Buckets on which we set noout: only those are ever unset by us. */
  readonly ownNoout: readonly string[]
}

export const calmState: DrainState = {
  openDomains: [],
  wantsNoout: false,
  lastUncleanAt: undefined,
  nooutSince: {},
  ownNoout: [],
}
