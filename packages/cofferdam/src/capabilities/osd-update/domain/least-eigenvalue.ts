import type { ConflictMatrix } from './conflict-matrix.ts'
import { mixedNumbers } from './mixed-numbers.ts'

/** How likely a start may be from which the least eigenvalue stays out of sight. */
const mostChance = 1e-9
/** What rounding may have done; it is far less. */
const rounding = 1e-9
/** The product below which the vectors so far have covered everything. */
const nothingLeft = 1e-10

/**
 * A number that the least eigenvalue is not below, by Lanczos' method: the extreme eigenvalues of what the first `steps` products show,
 * moved outwards by as much as the true ones can be further out. From a start in a random direction that is at most the spread times
 * (ln(1.648 √n / p) / (2k - 1))² after k steps, but for a chance of p (Kuczyński and Woźniakowski, 1992). The direction of the known
 * largest eigenvalue is left out, for then the spread is small.
 *
 * Undefined where so few steps prove nothing.
 */
export function leastEigenvalueAtLeast(matrix: ConflictMatrix, steps: number): number | undefined {
  const { size } = matrix
  const { diagonal, beside } = tridiagonalOf(matrix, randomDirection(size), Math.min(steps, size - 1))
  const count = diagonal.length
  const error = (Math.log((1.648 * Math.sqrt(size) * 2) / mostChance) / (2 * count - 1)) ** 2
  if (error >= 0.5) return undefined
  const least = eigenvalueOf(diagonal, beside, 1)
  const greatest = eigenvalueOf(diagonal, beside, count)
  return least - (error * (greatest - least)) / (1 - 2 * error) - rounding
}

function randomDirection(size: number): Float64Array {
  const numbers = mixedNumbers(size)
  const share = () => (numbers.below(2 ** 30) + 0.5) / 2 ** 30
  // Normal in each coordinate: so all directions are equally likely.
  return Float64Array.from({ length: size }, () => Math.sqrt(-2 * Math.log(share())) * Math.cos(2 * Math.PI * share()))
}

interface Tridiagonal {
  readonly diagonal: readonly number[]
  readonly beside: readonly number[]
}

function tridiagonalOf(matrix: ConflictMatrix, start: Float64Array, steps: number): Tridiagonal {
  const basis: Float64Array[] = [matrix.top]
  const diagonal: number[] = []
  const beside: number[] = []
  let vector = start
  let length = straighten(vector, basis)
  while (diagonal.length < steps && length > nothingLeft) {
    if (diagonal.length > 0) beside.push(length)
    for (let row = 0; row < vector.length; row += 1) vector[row] = (vector[row] as number) / length
    basis.push(vector)
    const next = new Float64Array(vector.length)
    matrix.multiply(vector, next)
    diagonal.push(productOf(vector, next))
    length = straighten(next, basis)
    vector = next
  }
  return { diagonal, beside }
}

/** Takes out of a vector what it has in common with the others; returns what length is left. Twice, for rounding brings some back. */
function straighten(vector: Float64Array, others: readonly Float64Array[]): number {
  for (let pass = 0; pass < 2; pass += 1) {
    for (const other of others) {
      const common = productOf(vector, other)
      for (let row = 0; row < vector.length; row += 1) {
        vector[row] = (vector[row] as number) - common * (other[row] as number)
      }
    }
  }
  return Math.sqrt(productOf(vector, vector))
}

function productOf(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let row = 0; row < a.length; row += 1) sum += (a[row] as number) * (b[row] as number)
  return sum
}

/** The nth eigenvalue from below, by counting how many are below a number. All are between -1 and 1. */
function eigenvalueOf(diagonal: readonly number[], beside: readonly number[], nth: number): number {
  let [low, high] = [-1.5, 1.5]
  for (let halving = 0; halving < 60; halving += 1) {
    const middle = (low + high) / 2
    if (countBelow(diagonal, beside, middle) >= nth) high = middle
    else low = middle
  }
  return low
}

function countBelow(diagonal: readonly number[], beside: readonly number[], number: number): number {
  let count = 0
  let pivot = 1
  for (const [at, value] of diagonal.entries()) {
    const taken = at === 0 ? 0 : (beside[at - 1] as number) ** 2 / pivot
    // A pivot of 0 makes the next one minus infinity, which counts as it should: `beside` has no zeros.
    pivot = value - number - taken
    if (pivot < 0) count += 1
  }
  return count
}
