import type { DaemonBudget } from '../daemon-budgets.ts'
import type { BudgetStep } from '../osd-budgets.ts'
import type { OsdBudget } from '../snapshot.ts'
import type { DrainState } from '../state-map.ts'
import type { StorageTurn } from '../storage-turn.ts'

/** A cluster in which every node is a failure domain of its own, with some OSDs, daemons that can run nowhere else, or both; and some nodes are drained. */
export interface ModelSetup {
  readonly nodes: readonly ModelNode[]
  readonly drained: readonly string[]
  /** Drains that somebody may give up once, and begin anew. */
  readonly givenUp?: readonly string[]
  /** Mons as they were held before: by their number alone. */
  readonly byNumberAlone?: boolean
  /** The same for the servers. */
  readonly serversByNumber?: boolean
}

export interface ModelNode {
  readonly name: string
  readonly osds: readonly number[]
  readonly mon?: string
  /** An NFS server of the one service there is. */
  readonly server?: string
}

/** Everything that there is at one moment. Plain data: two moments are the same when their JSON is. */
export interface ModelState {
  readonly downOsds: readonly number[]
  /** Back, and not whole yet. */
  readonly staleOsds: readonly number[]
  /** `mon.a`, `server.b` */
  readonly downDaemons: readonly string[]
  readonly drains: Readonly<Record<string, 'begun' | 'given back'>>
  /** Of those that may be given up: which were. */
  readonly hasGivenUp: readonly string[]
  readonly budgets: readonly OsdBudget[]
  readonly daemonBudgets: Readonly<
    Partial<Record<Kind, Pick<DaemonBudget, 'maxUnavailable' | 'isFollowing' | 'exempt'>>>
  >
  readonly record: DrainState
  readonly turn: StorageTurn | undefined
  readonly loose: readonly string[] | undefined
  readonly memory: Readonly<Partial<Record<Kind, NonNullable<DaemonBudget['memory']>>>>
  /** What ceph-drain decided from a look that may be old by now. */
  readonly decided: Decided | undefined
  /** Who works on the budgets, and what is left to write. */
  readonly writing:
    | { readonly who: 'ceph-drain'; readonly steps: readonly BudgetStep[]; readonly turn: StorageTurn | undefined }
    | { readonly who: 'static'; readonly all: DaemonBudgets; readonly left: readonly Kind[] }
    | undefined
}

export type Kind = 'mon' | 'server'
export type DaemonBudgets = Readonly<Partial<Record<Kind, DaemonBudget>>>

export interface Decided {
  readonly steps: readonly BudgetStep[]
  /** What is written instead while nothing may be let go. */
  readonly tightening: readonly BudgetStep[]
  readonly turn: StorageTurn
  readonly record: DrainState
  readonly isEarly: boolean
}
