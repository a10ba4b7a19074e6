import type { ObjectProblem } from '../../shared/object-problem.ts'
import {
  adopt,
  type GrantAnswer,
  type GrantRequest,
  grant,
  intend,
  type Ledger,
  type LedgerEntry,
  release,
  renew,
} from './ledger.ts'

/** The ledger after a change, and the epoch under which the holder has what it wanted; undefined when it has not. */
export interface HoldStep {
  readonly ledger: Ledger
  readonly epoch: number | undefined
  /** What people should know of it. */
  readonly problem?: ObjectProblem
}

/** Arguments of `hold` besides the ledger. */
export interface HoldRequest<Id, Wanted> {
  readonly id: Id
  readonly wanted: Wanted
  /** Under which this process held it last. */
  readonly epoch: number | undefined
  readonly now: string
}

/** What differs from holder to holder. `Id` is whatever entries belong together under, `Wanted` what is to be held for it. */
export interface HoldRules<Id, Wanted> {
  /** The same name, the same hold. */
  nameOf(id: Id): string
  /** Goes after `could not` when others changed the ledger every time. */
  describe(task: 'hold' | 'renew' | 'release', id: Id, wanted?: Wanted): string
  /** The entries of this holder, by whichever of its processes. */
  own(ledger: Ledger, id: Id): readonly LedgerEntry[]
  requestIdOf(wanted: Wanted): string
  /**
   * Guarantees: an epoch in the answer means that the one entry of the holder is as wanted, and marked as acted upon. Without
   * one the ledger is the very same.
   */
  hold(ledger: Ledger, request: HoldRequest<Id, Wanted>): HoldStep
}

/** Whether the holder has just what it wants, and under its own epoch. */
export function isHeldAs(
  own: readonly LedgerEntry[],
  { requestId, epoch }: { readonly requestId: string; readonly epoch: number | undefined },
): boolean {
  const [held] = own
  return own.length === 1 && held?.requestId === requestId && held.epoch === epoch && held.state === 'Acting'
}

/** Grants and marks as acted upon in one change. With `asksNobody` those who wait are passed by, and keep their places. */
export function beginHold(
  ledger: Ledger,
  request: GrantRequest,
  { asksNobody }: { readonly asksNobody: boolean },
): GrantAnswer {
  const answer = grant(asksNobody ? { ...ledger, tickets: [] } : ledger, request)
  if (!answer.granted) return { ...answer, ledger }
  const granted = asksNobody ? { ...answer.ledger, tickets: ledger.tickets } : answer.ledger
  const begun = intend(granted, { requestId: request.requestId, epoch: answer.epoch })
  return begun.ok ? { ...answer, ledger: begun.ledger } : { granted: false, obstacles: [], ledger }
}

/** Goes on with what is held: under the same epoch while it is ours, else under a new one. */
export function carryOn(
  ledger: Ledger,
  held: LedgerEntry,
  { epoch, holder = held.holder }: { readonly epoch: number | undefined; readonly holder?: string },
): HoldStep {
  if (isCurrent(held, epoch)) return { ledger, epoch }
  return adopt(ledger, { requestId: held.requestId, holder }) ?? { ledger, epoch: undefined }
}

/** Shows that the holder lives. What was taken for dead meanwhile, or belonged to an earlier process, is taken up again. */
export function renewHold(
  ledger: Ledger,
  [held]: readonly LedgerEntry[],
  by: { readonly epoch: number | undefined; readonly holder?: string },
): HoldStep {
  if (held === undefined) return { ledger, epoch: undefined }
  const { epoch } = by
  if (epoch === undefined || !isCurrent(held, epoch)) return carryOn(ledger, held, by)
  const renewed = renew(ledger, { requestId: held.requestId, epoch })
  return renewed.ok ? { ledger: renewed.ledger, epoch } : { ledger, epoch: undefined }
}

/** Releases these entries, under whichever epoch, and nothing else. */
export function releaseHold(ledger: Ledger, own: readonly LedgerEntry[], epoch: number | undefined): Ledger {
  return own.reduce<Ledger>((left, held) => {
    const carried = carryOn(left, held, { epoch })
    if (carried.epoch === undefined) return left
    const released = release(carried.ledger, { requestId: held.requestId, epoch: carried.epoch })
    return released.ok ? released.ledger : left
  }, ledger)
}

function isCurrent(held: LedgerEntry, epoch: number | undefined): boolean {
  return held.epoch === epoch && held.state !== 'Orphaned'
}
