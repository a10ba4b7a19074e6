/** An OSD that a prepare Job has made ready on its disk. */
export interface NewOsd {
  readonly id: number
  /** Undefined where it may run anywhere: then it is on a volume of its own. */
  readonly node: string | undefined
  /** By CRUSH type: `{ host: 'node-a', zone: 'zone-x' }`. */
  readonly location: Readonly<Record<string, string>>
  readonly deviceClass?: string
  readonly store?: string
  readonly isEncrypted?: boolean
  /** Its own, which is on its disk too. */
  readonly uuid?: string
  /** The disk or logical volume when it was prepared: `/dev/sdb`. */
  readonly blockPath?: string
  /** How ceph-volume made it: `raw` or `lvm`. */
  readonly mode?: string
  /** The claim of the volume that it is on. */
  readonly pvc?: string
  /** The device set of that claim. */
  readonly set?: string
  /** The label that a node must have for that volume: `topology.kubernetes.io/zone=z1`. */
  readonly topology?: string
}

/** What was prepared for it: the claim of its volume, or else its node. */
export function preparedPlace({ pvc, node }: NewOsd): string {
  return (pvc ?? node) as string
}
