import type { Json } from '@cofferdam/kubernetes/api/json.ts'

/** One command as mons take it: `{ prefix: 'osd ok-to-stop', ids: ['0'], max: 20 }`. Never a line of text. */
export interface CephCommand {
  readonly prefix: string
  readonly [argument: string]: Json
}

export interface CephAnswer {
  /** 0, or the errno that the command ended with, positive: 16 is EBUSY. */
  readonly code: number
  /** What the command printed; JSON wherever the command knows it, also on failure. */
  readonly out: string
  /**
   * The same as it came, with large answers of some clients: whoever can read bytes saves making one long text of them.
   * Whoever hands them to another thread takes `out` away with them.
   */
  readonly bytes?: readonly Uint8Array[]
  readonly err: string
}

/**
 * The port through which everything of ours talks to Ceph.
 *
 * Guarantees: an answer is Ceph's own; no answer within the time (or one that is too large) is thrown as a
 * `CofferdamError` with code `CEPH_UNREACHABLE`, and then a command that changes something may or may not have done so.
 */
export interface CephCommands {
  run(
    command: CephCommand,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<CephAnswer>
  /**
   * Ceph's cluster log from now on, level `info` and above, line by line; absent where this way to Ceph has none. Ends when the signal
   * does or the log ends by itself, rejects when it breaks off. Lines may be lost, doubled or nonsense: they are no evidence.
   */
  followLog?(follow: LogFollow): Promise<void>
}

export interface LogFollow {
  /** From here on lines are heard. */
  onOpen(): void
  onLine(line: string): void
  readonly signal: AbortSignal
}
