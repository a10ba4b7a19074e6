import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { type ConflictMatrix, conflictMatrix } from './conflict-matrix.ts'
import { leastEigenvalueAtLeast } from './least-eigenvalue.ts'
import type { LowerBound } from './lower-bound.ts'

/** Up to here the matrix is written out and judged without any chance. */
const mostWrittenOut = 128
const steps = 72
const rounding = 1e-9

/**
 * How many rounds it takes at least to part units that must not be down together, by the eigenvalues of who shares edges of slack 1
 * with whom: 1 + largest / -least (Hoffman, 1970), whatever the weights are. Undefined where that is not more than `moreThan`.
 *
 * It costs some tenths of a second on 10,000 units, and says more than a clique where there are many and each shares with few.
 *
 * Guarantees: no plan has fewer rounds; above 128 units but for a chance of less than one in a billion.
 */
export function spectralBound(graph: SlackHypergraph, moreThan: number): LowerBound | undefined {
  const matrix = conflictMatrix(graph)
  if (matrix.size < 3) return undefined
  const rounds =
    matrix.size <= mostWrittenOut
      ? provedByPivots(matrix, moreThan)
      : provedByLanczos(leastEigenvalueAtLeast(matrix, steps))
  if (rounds <= Math.max(moreThan, 2)) return undefined
  return {
    rounds,
    why: `${matrix.size} OSDs share placement groups that can lose only one copy, too evenly for fewer rounds (by eigenvalues)`,
  }
}

function provedByLanczos(least: number | undefined): number {
  return least === undefined || least >= 0 ? 0 : Math.ceil(1 - 1 / least - rounding)
}

/** With 1 / (rounds - 1) on its diagonal the matrix is positive only where that is more than -least: then one round more is proved. */
function provedByPivots(matrix: ConflictMatrix, moreThan: number): number {
  const written = writtenOut(matrix)
  let rounds = Math.max(moreThan, 2)
  while (isPositive(written, matrix.size, 1 / (rounds - 1) - rounding)) rounds += 1
  return rounds
}

function writtenOut({ size, multiply }: ConflictMatrix): Float64Array {
  const written = new Float64Array(size * size)
  const unit = new Float64Array(size)
  for (let row = 0; row < size; row += 1) {
    unit.fill(0)
    unit[row] = 1
    multiply(unit, written.subarray(row * size, (row + 1) * size))
  }
  return written
}

/** Whether all eigenvalues are above `-added`, by Cholesky's method: it comes to an end with positive matrices only. */
function isPositive(matrix: Float64Array, size: number, added: number): boolean {
  const lower = matrix.slice()
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      let sum = (lower[row * size + column] as number) + (row === column ? added : 0)
      for (let at = 0; at < column; at += 1) {
        sum -= (lower[row * size + at] as number) * (lower[column * size + at] as number)
      }
      if (row !== column) lower[row * size + column] = sum / (lower[column * size + column] as number)
      else if (sum <= rounding) return false
      else lower[row * size + column] = Math.sqrt(sum)
    }
  }
  return true
}
