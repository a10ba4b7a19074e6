import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type Clock, type Moment, momentOf, passedMs, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import type { ObjectProblem } from '../../shared/object-problem.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import { type HoldRules, type HoldStep, isHeldAs, releaseHold, renewHold } from '../rules/hold-rules.ts'
import type { Ledger } from '../rules/ledger.ts'
import { type HeldLedger, observeLedger } from './storage-ledger.ts'

/** What this process holds: only under its own epoch is it obeyed. */
interface Held {
  readonly epoch: number
  readonly renewedAt: Moment
}

/** What could not be done with the ledger, and why. */
export interface HoldFailure extends ObjectProblem {
  readonly error: unknown
}

/** The kind of the ledger is not installed (`absent`): nobody can hold anything. */
type Written =
  | { readonly outcome: 'written'; readonly ledger: Ledger; readonly steps: readonly HoldStep[] }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'failed'; readonly failure: HoldFailure }

/** What came of an attempt to acquire something. `absent`: there is no ledger to hold it in. */
export type Acquired =
  | { readonly outcome: 'held' | 'refused'; readonly ledger: Observed<Ledger> }
  | { readonly outcome: 'absent' }

interface Step<Id> {
  readonly id: Id
  change(ledger: Ledger, epoch: number | undefined): HoldStep
}

/**
 * The part that one controller takes in the ledger: it observes, acquires, renews and releases, and remembers its epochs. What
 * is claimed, and how, is the rules' to say.
 *
 * Guarantees: every change is made on what is true at that time; nothing is released but entries that the rules call own.
 * Without a ledger it holds nothing and is in nobody's way.
 */
export class LedgerHold<Id, Wanted> {
  readonly #clock: Clock
  readonly #ledger: HeldLedger | undefined
  readonly #rules: HoldRules<Id, Wanted>
  readonly #held = new Map<string, Held>()

  constructor(clock: Clock, ledger: HeldLedger | undefined, rules: HoldRules<Id, Wanted>) {
    this.#clock = clock
    this.#ledger = ledger
    this.#rules = rules
  }

  /** What the ledger says, from the cache; undefined where there is none. */
  observe(): Observed<Ledger> | undefined {
    return this.#ledger && observeLedger(this.#ledger.view)
  }

  /** Whether the ledger has just this held under the epoch of this process, as far as was seen. */
  isHeld(id: Id, wanted: Wanted): boolean {
    const seen = this.observe()
    return seen !== undefined && this.#isHeld(seen, id, wanted)
  }

  /**
   * Acquires this, on what is true at that time.
   *
   * Guarantees: `held` means that it is held under the epoch of this process. What was refused changed nothing; then, and when it
   * could not be written, `ledger` is what is to be decided on again.
   */
  async acquire(id: Id, wanted: Wanted, signal: AbortSignal): Promise<Acquired> {
    if (this.#ledger === undefined) return { outcome: 'absent' }
    const written = await this.#hold([{ id, wanted }], signal)
    if (written.outcome === 'absent') return written
    if (written.outcome === 'failed') return { outcome: 'refused', ledger: unknown(written.failure.problem) }
    const isHeld = written.steps.every(({ epoch }) => epoch !== undefined)
    return { outcome: isHeld ? 'held' : 'refused', ledger: known(written.ledger) }
  }

  /** Holds all of this in one change, and shows that its holder lives. Nothing is written while all of it is held and fresh. */
  async hold(
    wanted: readonly { readonly id: Id; readonly wanted: Wanted }[],
    signal: AbortSignal,
  ): Promise<{ readonly problems: readonly ObjectProblem[]; readonly failure?: HoldFailure }> {
    const seen = this.observe()
    const isFresh = (each: (typeof wanted)[number]) =>
      seen !== undefined && this.#isHeld(seen, each.id, each.wanted) && !this.#isDue(each.id)
    if (seen === undefined || wanted.every(isFresh)) return { problems: [] }
    const written = await this.#hold(wanted, signal)
    if (written.outcome === 'failed') return { problems: [], failure: written.failure }
    return { problems: written.outcome === 'absent' ? [] : written.steps.flatMap(({ problem }) => problem ?? []) }
  }

  /**
   * Releases what is not needed any more, or shows that its holder lives. To be called when everything that was decided has
   * been written. `freed` is the ledger without it.
   */
  async settle(
    id: Id,
    wants: 'keep' | 'release',
    signal: AbortSignal,
  ): Promise<{ readonly freed?: Ledger; readonly failure?: HoldFailure }> {
    const seen = this.observe()
    if (seen === undefined) return {}
    const isSeen = seen.known && this.#rules.own(seen.value, id).length > 0
    if (!this.holds(id) && !isSeen) {
      if (wants === 'keep') return {}
      if (seen.known) return { freed: seen.value }
    }
    if (wants === 'keep' && this.holds(id) && !this.#isDue(id)) return {}
    const step = wants === 'keep' ? this.#renewal(id) : this.#releaseOf(id)
    const task = this.#rules.describe(wants === 'keep' ? 'renew' : 'release', id)
    const written = await this.#write(task, () => [step], signal)
    if (written.outcome === 'failed') return { failure: written.failure }
    return written.outcome === 'absent' || this.holds(id) ? {} : { freed: written.ledger }
  }

  /** Releases everything that `unneeded` finds in the ledger, in one change. */
  async release(
    unneeded: (ledger: Ledger) => readonly Id[],
    signal: AbortSignal,
  ): Promise<{ readonly failure?: HoldFailure }> {
    const seen = this.observe()
    const [first] = seen?.known ? unneeded(seen.value) : []
    if (first === undefined) return {}
    const task = this.#rules.describe('release', first)
    const written = await this.#write(task, (ledger) => unneeded(ledger).map((id) => this.#releaseOf(id)), signal)
    return written.outcome === 'failed' ? { failure: written.failure } : {}
  }

  /** Under which epoch this process holds it, as far as it knows. */
  epochOf(id: Id): number | undefined {
    return this.#heldAs(id)?.epoch
  }

  /** Whether this process holds it, as far as it knows. */
  holds(id: Id): boolean {
    return this.#held.has(this.#rules.nameOf(id))
  }

  /** When to reconcile again at the latest, so that the heartbeat is renewed in time. */
  recheckAfterSeconds(id?: Id): number | undefined {
    const held = id === undefined ? [...this.#held.values()] : [this.#heldAs(id) ?? []].flat()
    if (held.length === 0 || this.#ledger === undefined) return undefined
    const passed = Math.max(...held.map(({ renewedAt }) => passedMs(this.#clock, renewedAt)))
    return Math.max(1, Math.ceil((this.#ledger.renewMs - passed) / 1_000))
  }

  /** Releases nothing: only what is remembered goes. */
  forget(isForgotten: (name: string) => boolean): void {
    for (const name of this.#held.keys()) if (isForgotten(name)) this.#held.delete(name)
  }

  #heldAs(id: Id): Held | undefined {
    return this.#held.get(this.#rules.nameOf(id))
  }

  #isDue(id: Id): boolean {
    const held = this.#heldAs(id)
    return held === undefined || passedMs(this.#clock, held.renewedAt) >= (this.#ledger?.renewMs ?? 0)
  }

  #isHeld(seen: Observed<Ledger>, id: Id, wanted: Wanted): boolean {
    const by = { requestId: this.#rules.requestIdOf(wanted), epoch: this.#heldAs(id)?.epoch }
    return seen.known && isHeldAs(this.#rules.own(seen.value, id), by)
  }

  #hold(wanted: readonly { readonly id: Id; readonly wanted: Wanted }[], signal: AbortSignal): Promise<Written> {
    const now = timestamp(this.#clock)
    const steps = wanted.map(({ id, wanted }): Step<Id> => {
      return { id, change: (ledger, epoch) => this.#rules.hold(ledger, { id, wanted, epoch, now }) }
    })
    const [first] = wanted
    return this.#write(first ? this.#rules.describe('hold', first.id, first.wanted) : '', () => steps, signal)
  }

  #renewal(id: Id): Step<Id> {
    return { id, change: (ledger, epoch) => renewHold(ledger, this.#rules.own(ledger, id), { epoch }) }
  }

  #releaseOf(id: Id): Step<Id> {
    const change = (ledger: Ledger, epoch: number | undefined): HoldStep => {
      return { ledger: releaseHold(ledger, this.#rules.own(ledger, id), epoch), epoch: undefined }
    }
    return { id, change }
  }

  async #write(task: string, stepsOn: (ledger: Ledger) => readonly Step<Id>[], signal: AbortSignal): Promise<Written> {
    const ids: Id[] = []
    try {
      const { ledger, done } = await (this.#ledger as HeldLedger).store.change(
        task,
        (now) => {
          ids.length = 0
          const done: { readonly id: Id; readonly step: HoldStep; readonly isChanged: boolean }[] = []
          let ledger = now
          for (const { id, change } of stepsOn(now)) {
            ids.push(id)
            const step = change(ledger, this.#heldAs(id)?.epoch)
            done.push({ id, step, isChanged: step.ledger !== ledger })
            ledger = step.ledger
          }
          return { ledger, value: { ledger, done } }
        },
        signal,
      )
      for (const { id, step, isChanged } of done) this.#note(id, step.epoch ?? this.#keptEpoch(ledger, id), isChanged)
      return { outcome: 'written', ledger, steps: done.map(({ step }) => step) }
    } catch (error) {
      if (signal.aborted) throw error
      if (hasReason(error, 'NotFound')) {
        for (const id of ids) this.#held.delete(this.#rules.nameOf(id))
        return { outcome: 'absent' }
      }
      const problem = error instanceof Error ? error.message : String(error)
      return { outcome: 'failed', failure: { object: `disruptionledger/${ledgerName}`, problem, error } }
    }
  }

  /** What was asked for is refused, and what was held before is held still. */
  #keptEpoch(ledger: Ledger, id: Id): number | undefined {
    const epoch = this.#heldAs(id)?.epoch
    return this.#rules.own(ledger, id).some((entry) => entry.epoch === epoch) ? epoch : undefined
  }

  /** What was not written showed nobody that the holder lives. */
  #note(id: Id, epoch: number | undefined, isChanged: boolean): void {
    const before = this.#heldAs(id)
    const name = this.#rules.nameOf(id)
    if (epoch === undefined) this.#held.delete(name)
    else if (epoch !== before?.epoch || isChanged) this.#held.set(name, { epoch, renewedAt: momentOf(this.#clock) })
  }
}
