import type { PodsExplanation } from './explain-pods-of.ts'
import type { VolumeExplanation } from './explain-volume.ts'

/** A claim answers as the pods that use it do; what keeps its data is said beside it. */
export interface ClaimExplanation extends PodsExplanation {
  /** Its PersistentVolume; left out while it has none. */
  readonly volume?: string
  /** The CSI driver of it, where it may be read. */
  readonly driver?: string
  /** Where Longhorn keeps it: where its copies are, and which nodes are held for its sake. */
  readonly longhornVolume?: VolumeExplanation
}
