import { reservedStatus, unreservedStatus } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import { decideDisruption } from '@cofferdam/product/capabilities/drain-lock/domain/decide.ts'
import { decideUpkeep } from '@cofferdam/product/capabilities/drain-lock/domain/decide-upkeep.ts'
import { applyOrphans, decideOrphans } from '@cofferdam/product/capabilities/drain-lock/domain/orphans.ts'
import { parseAppLock } from '@cofferdam/product/ledger/rules/app-lock.ts'
import { decideEviction } from '@cofferdam/product/ledger/rules/decide-eviction.ts'
import type { DrainLockSettings } from '@cofferdam/product/ledger/rules/drain-lock-settings.ts'
import {
  adopt,
  breakLocks,
  enqueue,
  grant,
  intend,
  release,
  releaseKeys,
  renew,
  stepBack,
  withdraw,
} from '@cofferdam/product/ledger/rules/ledger.ts'
import { recallLedger, restoreHolds } from '@cofferdam/product/ledger/rules/lost-holds.ts'
import type { BudgetReference } from '@cofferdam/product/shared/object-references.ts'

/** The code under test. A test that plants a bug replaces one of them. */
export interface Parts {
  readonly decideDisruption: typeof decideDisruption
  readonly decideEviction: typeof decideEviction
  readonly grant: typeof grant
  readonly adopt: typeof adopt
  readonly intend: typeof intend
  readonly renew: typeof renew
  readonly release: typeof release
  readonly releaseKeys: typeof releaseKeys
  readonly withdraw: typeof withdraw
  readonly enqueue: typeof enqueue
  readonly stepBack: typeof stepBack
  readonly breakLocks: typeof breakLocks
  readonly recallLedger: typeof recallLedger
  readonly restoreHolds: typeof restoreHolds
  readonly decideUpkeep: typeof decideUpkeep
  readonly decideOrphans: typeof decideOrphans
  readonly applyOrphans: typeof applyOrphans
  readonly reservedStatus: typeof reservedStatus
  readonly unreservedStatus: typeof unreservedStatus
  readonly parseAppLock: typeof parseAppLock
  readonly settings: DrainLockSettings
}

/** No moment is special: all times are told from here, and a tick moves them instead of the present. */
export const nowMs = Date.UTC(2026, 0, 1, 12)
/** As long as the disruption controller counts an evicted pod, longer than any request to the API server takes. */
export const tickMs = 120_000
/** How many ticks a reservation, the owner's lock and the silence of a holder last. */
export const ttl = 3

export const realParts: Parts = {
  decideDisruption,
  decideEviction,
  grant,
  adopt,
  intend,
  renew,
  release,
  releaseKeys,
  withdraw,
  enqueue,
  stepBack,
  breakLocks,
  recallLedger,
  restoreHolds,
  decideUpkeep,
  decideOrphans,
  applyOrphans,
  reservedStatus,
  unreservedStatus,
  parseAppLock,
  settings: {
    mode: 'reserve',
    minTolerationMs: 900_000,
    fallbackAfterMs: tickMs,
    plannedOutageMs: tickMs,
    reservationMs: ttl * tickMs,
    settleMs: tickMs,
    renewMs: tickMs,
  },
}

export interface Bounds {
  readonly name: string
  /** Which of the pods on node-0 and node-1 ask to stay, by application. */
  readonly stays: { readonly a: readonly [boolean, boolean]; readonly b: readonly [boolean, boolean] }
  /** One drainer: the second request has ended before the story begins. */
  readonly drainers: 1 | 2
  readonly hasFencer: boolean
  readonly ownerLocks: number
  /** How many evictions somebody with kubectl gets through admission. */
  readonly evictions: number
  /** Of each drainer and of the fencer. */
  readonly crashes: readonly [number, number, number]
  /** Whoever crashes may wake up beside its successor and go on with what it had decided. */
  readonly mayWakeUp: boolean
  /** The disruption controller counts before anybody else does anything. Otherwise counts may be as old as a tick. */
  readonly isCountPrompt: boolean
  /** 0: everybody is patient for ever. 1: patience with locks may end. 2: the deadline may pass as well. */
  readonly lastAge: 0 | 1 | 2
  /**
   * Down: the API server lets every eviction through to the budgets. Then a reservation that lapses protects nothing, so
   * whoever holds one is taken to be awake in time: time stands still while a reservation is about to lapse.
   */
  readonly guard: 'up' | 'down'
  /** Somebody else cordoned node-1 before. */
  readonly isCordonedBefore: boolean
  /** Whoever waits for a drained node may open it again instead of rebooting it. */
  readonly mayGiveBack: boolean
  /** How many requests somebody writes break-glass on while they wait. */
  readonly glasses: number
  /**
   * `wiped`: somebody deletes the ledger once. `restored`: it is put back once as it was at an earlier time. Not beside a fencer, which
   * reads the ledger without asking what is on record.
   */
  readonly ledgerLoss: 'never' | 'wiped' | 'restored'
  /** How many nodes of requests are deleted and made again under the same name. */
  readonly remadeNodes: number
  /** How many budgets are. */
  readonly remadeBudgets: number
  /** Of the nodes one may be in maintenance at once. What is seen of nodes never shows that one is away. */
  readonly hasLimit: boolean
}

export const drainerIndexes = [0, 1] as const
export type DrainerIndex = (typeof drainerIndexes)[number]
export const fencerId = 'F'

export const requestIds = ['R-0', 'R-1'] as const
export const nodeNames = ['node-0', 'node-1', 'node-2'] as const
export const zones = ['zone-x', 'zone-x', 'zone-y'] as const
export const storageKey = 'storage/rook-ceph/main'
export const storageUid = 'ceph'
export const apps = ['a', 'b'] as const

/** A budget that was made again has another uid. */
export function budgetReference(app: 0 | 1, times: number): BudgetReference {
  return { namespace: 'shop', name: apps[app], uid: times === 0 ? apps[app] : `${apps[app]} made again` }
}

export function nodeUid(index: 0 | 1 | 2, times: number): string {
  return times === 0 ? nodeNames[index] : `${nodeNames[index]} made again`
}
/** Of two replicas one may be away. */
export const replicas = 2
export const desiredHealthy = 1

/** By application and node. */
export function podIndex(app: number, node: number): number {
  return app * 2 + node
}

export function podName(app: number, node: number): string {
  return `${apps[app]}-${node}`
}

export function holderOf(index: DrainerIndex, process: number): string {
  return `process ${process} for ${requestIds[index]}`
}

export function isOver(phase: string): boolean {
  return phase === 'Completed' || phase === 'Rejected'
}
