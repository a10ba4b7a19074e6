import { compareResourceVersions } from '../client/resource-version.ts'
import { type Clock, elapsedMs, type Moment, momentOf, passedMs, sleep } from './clock.ts'
import type { Random } from './random.ts'

/** Who leads, as it is written where all candidates see it. */
export interface LeaseRecord {
  /** Empty when the last leader gave it up. */
  readonly holder: string
  readonly durationSeconds: number
  readonly acquireTime: string
  readonly renewTime: string
  readonly transitions: number
}

/** A place for one LeaseRecord that is changed by compare-and-swap. */
export interface LeaseStore {
  read(signal: AbortSignal): Promise<StoreReading>
  /** Creates when `version` is undefined. Returns the version it has now; undefined when somebody else was faster. */
  write(record: LeaseRecord, version: string | undefined, signal: AbortSignal): Promise<string | undefined>
}

interface StoreReading {
  readonly lease: KeptLease | undefined
  /** How far the store has come, which is further than its lease while others write. Empty when it did not say. */
  readonly version: string
}

interface KeptLease {
  readonly record: LeaseRecord
  /** Empty when the store did not say. */
  readonly version: string
}

export interface LeaderTiming {
  /** Others wait this long after the last change they saw before they take over. */
  readonly leaseSeconds: number
  /** A leader that could not renew for this long stops; it must be less than `leaseSeconds`. */
  readonly renewDeadlineSeconds: number
  readonly retrySeconds: number
}

export const defaultLeaderTiming: LeaderTiming = { leaseSeconds: 15, renewDeadlineSeconds: 10, retrySeconds: 2 }

export interface LeaderLeaseOptions {
  readonly store: LeaseStore
  readonly identity: string
  readonly clock: Clock
  readonly random: Random
  readonly timing?: LeaderTiming
  readonly timestamp: () => string
  readonly onChange?: (holder: string) => void
  /** The store has an older version than it had before: it was put back to a backup. It is over then. */
  readonly onRestored?: () => void
  readonly onError?: (error: unknown) => void
}

/**
 * Lets one of several candidates lead.
 *
 * Guarantees: `mayAct()` turns false `renewDeadlineSeconds` after the last renewal began, even when nothing else could
 * run in between, and when the clock was turned back meanwhile. A takeover is timed by changes this process saw, in time that really
 * passed; times written by others are never compared with it, so a wrong clock, here or elsewhere, cannot cause one. Whoever sees that the
 * store went back in time neither leads nor waits any more: nothing that this process knows is sure to be true.
 * Assumes: time passes on no machine much faster than on another. A lease is not a fence: whoever acts for long must
 * also carry an epoch that the receiver checks.
 */
export class LeaderLease {
  readonly #options: LeaderLeaseOptions
  readonly #timing: LeaderTiming
  #seen: { readonly text: string; readonly elapsedMs: number; readonly holder: string } | undefined
  #renewed: Moment | undefined
  /** As we wrote it last: while nobody else has written it, it is renewed without being read again. */
  #kept: KeptLease | undefined
  /** The latest version of the store that was seen. A lease alone may be as it was before the backup: nobody writes it while nobody leads. */
  #latest = ''
  #isRestored = false

  constructor(options: LeaderLeaseOptions) {
    this.#options = options
    this.#timing = options.timing ?? defaultLeaderTiming
    if (this.#timing.renewDeadlineSeconds >= this.#timing.leaseSeconds) {
      throw new RangeError('renewDeadlineSeconds must be less than leaseSeconds')
    }
  }

  mayAct(): boolean {
    if (this.#renewed === undefined) return false
    return passedMs(this.#options.clock, this.#renewed) < this.#timing.renewDeadlineSeconds * 1_000
  }

  holder(): string | undefined {
    return this.#seen?.holder
  }

  /**
   * Waits for the lead, runs `lead` with a signal that fires when the lead is lost, and resolves when it was lost, the store was
   * restored or the outer signal fired. The lease is given up only after `lead` has ended.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options
    const retryMs = this.#timing.retrySeconds * 1_000
    while (!(await this.#tryToHold(signal))) {
      if (this.#isRestored) return
      await sleep(clock, retryMs * (1 + random.next() * 0.2), signal)
      if (signal.aborted) return
    }
    const ended = new AbortController()
    const end = () => ended.abort()
    signal.addEventListener('abort', end, { once: true })
    const leading = lead(ended.signal).finally(end)
    while (!ended.signal.aborted && this.mayAct()) {
      await sleep(clock, retryMs, ended.signal)
      if (!ended.signal.aborted) await this.#renewWithinDeadline(ended.signal)
    }
    end()
    signal.removeEventListener('abort', end)
    try {
      await leading
    } finally {
      await this.#giveUp()
    }
  }

  async #renewWithinDeadline(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const since = this.#renewed?.elapsedMs ?? Number.NEGATIVE_INFINITY
    const leftMs = since + this.#timing.renewDeadlineSeconds * 1_000 - elapsedMs(clock)
    const attempt = new AbortController()
    const abandon = () => attempt.abort()
    const cancel = clock.after(Math.max(0, leftMs), abandon)
    signal.addEventListener('abort', abandon, { once: true })
    await this.#tryToHold(attempt.signal)
    signal.removeEventListener('abort', abandon)
    cancel()
  }

  async #tryToHold(signal: AbortSignal): Promise<boolean> {
    const kept = this.#kept
    this.#kept = undefined
    const read = () => this.#options.store.read(signal)
    const remembered = async () => ({ lease: kept, version: kept?.version ?? '' })
    const attempt = await this.#attempt(kept === undefined ? read : remembered, signal)
    if (attempt !== 'overtaken' || kept === undefined) return attempt === 'held'
    return (await this.#attempt(read, signal)) === 'held'
  }

  async #attempt(find: () => Promise<StoreReading>, signal: AbortSignal): Promise<'held' | 'overtaken' | 'not held'> {
    const { store, identity, timestamp, onError } = this.#options
    const began = momentOf(this.#options.clock)
    try {
      const { lease: found, version: reached } = await raceAbort(find(), signal)
      this.#follow(reached)
      if (this.#isRestored) {
        this.#renewed = undefined
        return 'not held'
      }
      this.#observe(found?.record)
      const held = found?.record
      const isOurs = held?.holder === identity
      if (held !== undefined && held.holder !== '' && !isOurs && !this.#hasExpired(held)) {
        this.#renewed = undefined
        return 'not held'
      }
      const now = timestamp()
      const record: LeaseRecord = {
        holder: identity,
        durationSeconds: this.#timing.leaseSeconds,
        acquireTime: isOurs ? held.acquireTime : now,
        renewTime: now,
        transitions: held === undefined ? 0 : held.transitions + (isOurs ? 0 : 1),
      }
      const version = await raceAbort(store.write(record, found?.version, signal), signal)
      if (version === undefined) return 'overtaken'
      this.#follow(version)
      this.#observe(record)
      this.#kept = version === '' ? undefined : { record, version }
      // Counted from before the write: the others may have begun to wait from then on.
      this.#renewed = began
      return 'held'
    } catch (error) {
      if (!signal.aborted) onError?.(error)
      return 'not held'
    }
  }

  #follow(version: string): void {
    const isBefore = (compareResourceVersions(version, this.#latest) ?? 0) < 0
    if (!isBefore) this.#latest = version === '' ? this.#latest : version
    else if (!this.#isRestored) {
      this.#isRestored = true
      this.#options.onRestored?.()
    }
  }

  #observe(record: LeaseRecord | undefined): void {
    const text = JSON.stringify(record ?? null)
    if (text === this.#seen?.text) return
    const holder = record?.holder ?? ''
    const changed = holder !== this.#seen?.holder
    this.#seen = { text, elapsedMs: elapsedMs(this.#options.clock), holder }
    if (changed) this.#options.onChange?.(holder)
  }

  #hasExpired(record: LeaseRecord): boolean {
    const since = this.#seen?.elapsedMs ?? Number.POSITIVE_INFINITY
    return elapsedMs(this.#options.clock) - since >= record.durationSeconds * 1_000
  }

  async #giveUp(): Promise<void> {
    const { store, identity, clock, timestamp, onError } = this.#options
    this.#renewed = undefined
    this.#kept = undefined
    const patience = new AbortController()
    const cancel = clock.after(this.#timing.retrySeconds * 1_000, () => patience.abort())
    try {
      const { lease: found } = await raceAbort(store.read(patience.signal), patience.signal)
      if (found?.record.holder !== identity) return
      const now = timestamp()
      const released = { ...found.record, holder: '', durationSeconds: 1, acquireTime: now, renewTime: now }
      await raceAbort(store.write(released, found.version, patience.signal), patience.signal)
    } catch (error) {
      onError?.(error)
    } finally {
      cancel()
    }
  }
}

/** A store that ignores its signal must not hold a candidate past its deadline. */
function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('gave up waiting for the lease to answer'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
