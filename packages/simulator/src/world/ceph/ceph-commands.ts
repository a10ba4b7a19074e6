import type { Json } from '@cofferdam/kubernetes/api/json.ts'

/** One command as mons take it: `{ prefix: 'osd ok-to-stop', ids: ['0'], max: 20 }`. */
export interface CephCommand {
  readonly prefix: string
  readonly [argument: string]: Json
}

export interface CephAnswer {
  /** 0, or the errno that the command ended with, positive: 16 is EBUSY. */
  readonly code: number
  /** What the command printed; JSON wherever the command knows it, also on failure. */
  readonly out: string
  readonly err: string
}

/**
 * The way in which clients ask the simulated Ceph.
 *
 * Guarantees: no answer within the time is thrown as a `CofferdamError` with code `CEPH_UNREACHABLE`.
 */
export interface CephCommands {
  run(
    command: CephCommand,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<CephAnswer>
  /** Ceph's cluster log from now on; ends with the signal, rejects when it breaks off. */
  followLog?(follow: LogFollow): Promise<void>
}

export interface LogFollow {
  /** From here on every line is heard. */
  onOpen(): void
  onLine(line: string): void
  readonly signal: AbortSignal
}
