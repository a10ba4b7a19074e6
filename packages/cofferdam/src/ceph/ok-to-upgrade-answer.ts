/** A question for Ceph: which OSDs of a bucket may stop for an upgrade. */
export interface UpgradeQuestion {
  /** A rack, chassis, host or OSD: Ceph takes nothing wider. */
  readonly bucket: string
  /** As updated OSDs report it: those that run it are passed over. */
  readonly version: string
  readonly max: number
}

export type OkToUpgradeAnswer =
  | {
      readonly kind: 'answer'
      /** Which may stop together, by Ceph's own reckoning; none when it refuses. */
      readonly osds: readonly number[]
      /** Which run the version already. */
      readonly upgraded: readonly number[]
      /** Which have not said what they run. */
      readonly versionless: readonly number[]
    }
  /** This Ceph lacks the command, or does not take what it was asked. */
  | { readonly kind: 'no-such-question'; readonly why: string }
