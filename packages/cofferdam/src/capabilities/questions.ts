import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { LastDecisions } from '../ceph/reader/last-decisions.ts'
import type { FenceGate } from '../ledger/store/fence-gate.ts'
import type { StorageObserver } from '../ledger/store/storage-observer.ts'

/** How often somebody needs to hear of a Ceph cluster. */
export interface CephInterest {
  /** How old an answer of Ceph may be in calm times. */
  readonly calmMs: number
}

/** Keeps autoscalers from nodes that are taken out for a reboot. */
export interface ScaleDownKeeper {
  /** Whether the node says so. */
  isKept(node: Pick<Node, 'metadata'>): boolean
}

/** What a capability answers to others while it runs. Made when somebody first asks. */
export interface Answers {
  /** Whether storage needs a node. */
  readonly storage?: () => StorageObserver
  /** Whether machines may be fenced. */
  readonly fenceGate?: () => FenceGate
  /** What was decided last about the OSDs of a Ceph cluster. */
  readonly cephDecisions?: () => LastDecisions
  readonly cephInterest?: () => CephInterest
  readonly scaleDownKeeper?: () => ScaleDownKeeper
}

/** What capabilities ask of each other; the operator routes it to whoever answers. */
export interface Questions {
  /** Observers of every storage that is managed in this process. */
  storage(): readonly StorageObserver[]
  fenceGate(): FenceGate | undefined
  cephDecisions(): LastDecisions | undefined
  cephInterest(): CephInterest | undefined
  /** Undefined: nobody keeps them, so nothing waits for it. */
  scaleDownKeeper(): ScaleDownKeeper | undefined
}

/** Asks whoever has opened; those who come later answer too. */
export function routeQuestions(answers: Iterable<Answers>): Questions {
  const all = <T>(pick: (each: Answers) => (() => T) | undefined): T[] =>
    [...answers].flatMap((each) => pick(each)?.() ?? [])
  return {
    storage: () => all(({ storage }) => storage),
    fenceGate: () => all(({ fenceGate }) => fenceGate)[0],
    cephDecisions: () => all(({ cephDecisions }) => cephDecisions)[0],
    cephInterest: () => all(({ cephInterest }) => cephInterest)[0],
    scaleDownKeeper: () => all(({ scaleDownKeeper }) => scaleDownKeeper)[0],
  }
}
