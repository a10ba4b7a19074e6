import type { ReplicaMove } from '../domain/decision.ts'
import { countedText } from './counted-text.ts'

/** How many replicas that move off a node are how far. */
export type MoveCounts = Readonly<Record<ReplicaMove['state'], number>>

export function countMoves(moves: readonly Pick<ReplicaMove, 'state'>[]): MoveCounts {
  const counts = { 'not-begun': 0, waiting: 0, copying: 0, copied: 0 }
  for (const { state } of moves) counts[state] += 1
  return counts
}

/** `3 replicas to move`, and how far they are where not all of them are being copied: `(1 being copied, 2 not begun)`. */
export function movesText(counts: MoveCounts): string {
  const { 'not-begun': notBegun, waiting, copying, copied } = counts
  const total = countedText(notBegun + waiting + copying + copied, 'replica')
  if (notBegun + waiting === 0) return `${total} to move`
  const parts: readonly [number, string][] = [
    [copied, 'copied'],
    [copying, 'being copied'],
    [waiting, 'waiting'],
    [notBegun, 'not begun'],
  ]
  const texts = parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
  return `${total} to move (${texts.join(', ')})`
}
