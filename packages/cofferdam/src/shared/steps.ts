/**
 * What a decision wants done, as data: nothing happens until the interpreter performs it.
 *
 * - `ask`: a question whose answer belongs into the next snapshot (Ceph's ok-to-stop check, a fresh list).
 * - `hold`: acquire, renew or release something in the ledger.
 * - `write`: change an object of the cluster or a flag of Ceph.
 * - `evict`: make a pod leave its node.
 * - `report`: events, conditions, metrics.
 */
export type StepKind = 'ask' | 'hold' | 'write' | 'evict' | 'report'

export interface Step {
  readonly do: StepKind
}
