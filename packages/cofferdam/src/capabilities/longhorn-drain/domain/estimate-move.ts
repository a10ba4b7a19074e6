import type { LonghornNodeView } from './snapshot.ts'

export interface MoveEstimate {
  readonly bytesPerSecond: number
  readonly secondsLeft: number
}

/** How fast replicas leave a node, on the whole since they began, and how long the rest takes; undefined while that is unknown. */
export function estimateMove(seen: {
  readonly moving: LonghornNodeView['moving']
  readonly bytesLeft: number
  readonly nowMs: number
}): MoveEstimate | undefined {
  const { moving, bytesLeft, nowMs } = seen
  if (moving === undefined) return undefined
  const seconds = (nowMs - moving.sinceMs) / 1000
  const moved = moving.bytes - bytesLeft
  if (!(seconds > 0) || !(moved > 0)) return undefined
  const bytesPerSecond = moved / seconds
  return { bytesPerSecond, secondsLeft: Math.max(0, Math.ceil(bytesLeft / bytesPerSecond)) }
}
