import type { VolumeView } from './snapshot.ts'

/** Whether its replicas never leave their nodes. */
export function isBound({ isStrictLocal, boundClone }: Pick<VolumeView, 'isStrictLocal' | 'boundClone'>): boolean {
  return isStrictLocal || boundClone !== undefined
}

/** What is left to copy until a replica of the volume may go. Bound volumes never move, so nothing is. */
export function bytesLeftOf(volume: VolumeView | undefined): number {
  if (volume === undefined || isBound(volume)) return 0
  const left = 1 - Math.min(1, Math.max(0, volume.rebuiltShare ?? 0))
  return Math.max(0, Math.round(volume.actualBytes * left))
}
