import type { Timers } from '../ceph/timers.ts'
import type { ReplicaStore } from './replica-store.ts'

interface RebuildPorts {
  readonly timers: Timers
  /** Bytes per second; 0 stands still. */
  readonly rate: () => number
  readonly bytesPerBlock: number
  readonly target: ReplicaStore
  /** Copies only what differs. */
  readonly isDelta: boolean
  readonly source: () => ReplicaStore | undefined
  /** A rebuild that stands behind this one, which does not end before it. */
  readonly behind?: Promise<void>
  readonly onProgress: () => void
  readonly onEnd: (isDone: boolean) => void
}

/** Progress is reported at most this often. */
const progressMs = 1_000
const standstillMs = 1_000

/** Copies the blocks of one replica from another that is whole, one after the other. */
export class Rebuild {
  readonly #ports: RebuildPorts
  #left: number[] = []
  #total = 0
  #cancel: (() => void) | undefined
  #reportedAt: number
  #isStopped = false

  constructor(ports: RebuildPorts) {
    this.#ports = ports
    this.#reportedAt = ports.timers.now()
    // It may fail long before anybody waits for it.
    ports.behind?.catch(() => {})
  }

  get target(): ReplicaStore {
    return this.#ports.target
  }

  /** 0 to 100. */
  get progress(): number {
    return this.#total === 0 ? 100 : Math.floor((100 * (this.#total - this.#left.length)) / this.#total)
  }

  start(): void {
    const { source, target, isDelta } = this.#ports
    const from = source()
    target.isWhole = false
    if (from !== undefined) {
      const changed = target.blocks.differencesTo(from.blocks)
      this.#left = isDelta ? changed : [...new Set([...from.blocks.written(), ...changed])].sort((a, b) => a - b)
    }
    this.#total = this.#left.length
    this.#next()
  }

  /** A write during the rebuild goes to the target too, and is not copied again. */
  take(block: number, bytes: Uint8Array): void {
    this.#ports.target.blocks.write(block, bytes)
    this.#left = this.#left.filter((one) => one !== block)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  #next(): void {
    const { timers, rate, bytesPerBlock } = this.#ports
    const bytesPerSecond = rate()
    if (bytesPerSecond <= 0) {
      this.#cancel = timers.after(standstillMs, () => this.#next())
      return
    }
    // Even an empty copy costs the handshake of one block.
    this.#cancel = timers.after(Math.max(1, (bytesPerBlock / bytesPerSecond) * 1_000), () => this.#copyOne())
  }

  #copyOne(): void {
    if (this.#isStopped) return
    const { source, target, timers, onProgress, onEnd } = this.#ports
    const from = source()
    if (from === undefined) {
      onEnd(false)
      return
    }
    const block = this.#left.shift()
    if (block !== undefined) target.blocks.copyFrom(from.blocks, block)
    if (this.#left.length === 0) {
      this.#finish()
      return
    }
    if (timers.now() - this.#reportedAt >= progressMs) {
      this.#reportedAt = timers.now()
      onProgress()
    }
    this.#next()
  }
  #finish(): void {
    const { behind, target, onEnd } = this.#ports
    const end = (isDone: boolean) => {
      if (this.#isStopped) return
      if (isDone) target.isWhole = true
      onEnd(isDone)
    }
    if (behind === undefined) end(true)
    else
      behind.then(
        () => end(true),
        () => end(false),
      )
  }
}
