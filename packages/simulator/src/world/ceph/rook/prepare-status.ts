import { createHash } from 'node:crypto'

/** On prepare Jobs, and copied onto their status: for which inspection of the cluster they were made. */
export const generationAnnotation = 'cofferdam.io/generation'
/** There as well: the place, whose name may be too long for a label. */
export const placeAnnotation = 'cofferdam.io/place'

export type PrepareState = 'starting' | 'orchestrating' | 'completed' | 'failed'

const longestName = 63

/** The ConfigMap of a node or a volume claim; as Rook, with a hash where that name is too long. */
export function statusMapName(place: string): string {
  const longest = longestName - 'rook-ceph-osd--status'.length
  const short = place.length > longest ? createHash('sha256').update(place).digest('hex').slice(0, 32) : place
  return `rook-ceph-osd-${short}-status`
}
