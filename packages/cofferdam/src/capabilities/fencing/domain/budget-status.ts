import type { WantedMachineBudget } from './decision.ts'

/**
 * The status of a machine budget, as a remediator reads it.
 *
 * `disruptionsAllowed` is what `maxUnavailable` leaves after the fences that are not over. A machine that is merely sick uses
 * up nothing: it is the very one that a remediator asks for. With the arithmetic of a pod budget, one sick machine would
 * make itself untouchable.
 */
export function machineBudgetStatus(seen: {
  readonly maxUnavailable: 0 | 1
  /** Selected machines. */
  readonly expected: number
  /** How many of them have Ready nodes. */
  readonly ready: number
  /** Machines that a remediator was let through for and that are not back. */
  readonly disrupted: readonly string[]
}): WantedMachineBudget['status'] {
  const { maxUnavailable, expected, ready, disrupted } = seen
  return {
    disruptionsAllowed: Math.max(0, maxUnavailable - disrupted.length),
    currentHealthy: ready,
    desiredHealthy: Math.max(0, expected - maxUnavailable),
    expectedMachines: expected,
    disrupted: [...disrupted].sort(),
  }
}
