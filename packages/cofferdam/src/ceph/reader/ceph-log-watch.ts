import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommands } from '../ceph-commands.ts'
import { isAboutOsds, osdsIn } from './log-line.ts'

export interface CephLogWatchPorts {
  readonly clock: Clock
  /** Something may have happened in this cluster: Ceph is to be asked. */
  onHint(key: string, hint: LogHint): void
  /** Whether the log is followed has changed. */
  onChange(key: string): void
}

export interface LogHint {
  /** The OSDs that the lines named. */
  readonly osds: readonly number[]
  /** No line came since the last hint: the map may come after the line that it belongs to. */
  readonly isRepeated: boolean
}

/** Whether Ceph's cluster log is followed, and if not, why. */
export type LogState = { readonly isFollowed: true } | { readonly isFollowed: false; readonly why: string }

interface Followed {
  /** Used when the log is opened next. */
  commands: CephCommands
  readonly ending: AbortController
  state: LogState | undefined
  lastLineAt: number
  readonly named: Set<number>
  lastHintAt: number
  /** When the next one is due. */
  hintAt: number
  cancel: () => void
}

const firstDelayMs = 1_000
const longestDelayMs = 300_000
/** Who stood so long is no failure when it ends. */
const lastingMs = 60_000
/** A line comes with the map that it is about, or shortly before it: Ceph is asked again after this, and then each second. */
const soonMs = 250
/** Between two hints, however many lines there are. */
const leastMs = 500
const againMs = 1_000
const mostNamed = 1_000

/**
 * Follows the cluster logs of Ceph clusters, so that Ceph is asked when something happened there, and not only when the next poll is due.
 *
 * Guarantees: of a line counts only whether Ceph is to be asked; a line is followed by a hint at once or within half a second, and by
 * another a second later; of any number of lines come no more than two hints a second, and none later than two seconds after the last.
 * A log that breaks off or cannot be followed is tried again at longer and longer intervals, for as long as the cluster is there.
 */
export class CephLogWatch {
  readonly #ports: CephLogWatchPorts
  readonly #followed = new Map<string, Followed>()

  constructor(ports: CephLogWatchPorts) {
    this.#ports = ports
  }

  /** Undefined until it is known whether it can be followed. */
  stateOf(key: string): LogState | undefined {
    return this.#followed.get(key)?.state
  }

  /**
   * Follows this cluster from now on. A log that is open stays open, whatever commands come after: were it opened again for each of them,
   * it would have Ceph asked each time, and whoever asks Ceph comes with its commands.
   */
  follow(key: string, commands: CephCommands | undefined): void {
    const held = this.#followed.get(key)
    if (held !== undefined && commands !== undefined && hasLog(held.commands) === hasLog(commands)) {
      held.commands = commands
      return
    }
    this.forget(key)
    if (commands === undefined) return
    const followed: Followed = {
      commands,
      ending: new AbortController(),
      state: commands.followLog === undefined ? { isFollowed: false, why: 'this way to Ceph has no log' } : undefined,
      lastLineAt: Number.NEGATIVE_INFINITY,
      named: new Set(),
      lastHintAt: Number.NEGATIVE_INFINITY,
      hintAt: Number.POSITIVE_INFINITY,
      cancel: () => {},
    }
    this.#followed.set(key, followed)
    if (commands.followLog !== undefined) void this.#run(key, followed)
  }

  forget(key: string): void {
    const followed = this.#followed.get(key)
    if (followed === undefined) return
    this.#followed.delete(key)
    followed.ending.abort()
    followed.cancel()
  }

  close(): void {
    for (const key of this.#followed.keys()) this.forget(key)
  }

  async #run(key: string, followed: Followed): Promise<void> {
    const { clock } = this.#ports
    const { signal } = followed.ending
    for (let failures = 0; !signal.aborted; ) {
      const beganAt = clock.now()
      let why = 'it ended'
      try {
        await followed.commands.followLog?.({
          onOpen: () => this.#opened(key, followed),
          onLine: (line) => {
            if (!signal.aborted && isAboutOsds(line)) this.#heard(key, followed, line)
          },
          signal,
        })
      } catch (error) {
        why = error instanceof Error ? error.message : String(error)
      }
      if (signal.aborted) return
      failures = clock.now() - beganAt >= lastingMs ? 0 : failures + 1
      if (failures > 0) this.#show(key, followed, { isFollowed: false, why })
      const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures, 20))
      await sleep(clock, delayMs, signal)
    }
  }

  /** Whatever was written before is not heard any more, so Ceph is asked once. */
  #opened(key: string, followed: Followed): void {
    if (followed.ending.signal.aborted) return
    this.#show(key, followed, { isFollowed: true })
    this.#ports.onHint(key, { osds: [], isRepeated: false })
  }

  #show(key: string, followed: Followed, state: LogState): void {
    const before = followed.state
    followed.state = state
    const isSame = before?.isFollowed === state.isFollowed && textOf(before) === textOf(state)
    if (!isSame) this.#ports.onChange(key)
  }

  #heard(key: string, followed: Followed, line: string): void {
    const now = this.#ports.clock.now()
    followed.lastLineAt = now
    for (const osd of osdsIn(line)) if (followed.named.size < mostNamed) followed.named.add(osd)
    const mayHintInMs = followed.lastHintAt + leastMs - now
    const isTooSoon = mayHintInMs > 0
    if (!isTooSoon) this.#hint(key, followed)
    this.#hintIn(key, followed, isTooSoon ? Math.min(mayHintInMs, followed.hintAt - now) : soonMs)
  }

  #hintIn(key: string, followed: Followed, afterMs: number): void {
    const { clock } = this.#ports
    followed.cancel()
    followed.hintAt = clock.now() + afterMs
    const stop = clock.after(afterMs, () => {
      followed.hintAt = Number.POSITIVE_INFINITY
      this.#hint(key, followed)
      if (clock.now() - followed.lastLineAt < againMs) this.#hintIn(key, followed, againMs)
      else followed.named.clear()
    })
    followed.cancel = stop
  }

  #hint(key: string, followed: Followed): void {
    const isRepeated = followed.lastLineAt <= followed.lastHintAt
    followed.lastHintAt = this.#ports.clock.now()
    this.#ports.onHint(key, { osds: [...followed.named], isRepeated })
  }
}

function hasLog({ followLog }: CephCommands): boolean {
  return followLog !== undefined
}

function textOf(state: LogState | undefined): string {
  return state?.isFollowed === false ? state.why : ''
}
