import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephMap } from '../../safety/ceph-map.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import type { CephCommands } from '../ceph-commands.ts'

/** The little that one `ceph status` tells: enough to see that nothing happened. */
export interface CephPulse {
  readonly epoch: number
  readonly pgStates: Readonly<Record<string, number>>
}

export interface CephLookPorts {
  readonly clock: Clock
  /** How old an answer may be in calm times. Default: a minute. */
  readonly calmMs?: number
  observeMap(ceph: CephCommands, signal: AbortSignal): Promise<Observed<CephMap>>
  observePulse(ceph: CephCommands, signal: AbortSignal): Promise<Observed<CephPulse>>
}

export interface CephLook {
  readonly key: string
  /** Undefined where no way to the cluster is known. */
  readonly ceph: CephCommands | undefined
  /**
   * `calm`: nothing is open, unclean or awaited, and a look a minute is enough. `busy`: something is under way, and Ceph's
   * answers are up to date. `unsettled`: Ceph has not caught up with the last change, so every answer may be a new one.
   */
  readonly pace: Pace
  readonly isHealthyState: (state: string) => boolean
  readonly signal: AbortSignal
}

export type Pace = 'calm' | 'busy' | 'unsettled'

interface Memory {
  map: CephMap | undefined
  /** When all of the map was read. */
  readAt: number
  /** When Ceph was last asked, if only whether anything changed. */
  lookedAt: number
  /** When that question was put: what it tells may be from then. */
  askedAt: number
  isDisturbed: boolean
  disturbedAt: number
  failure: Observed<CephMap> | undefined
  failedAt: number
  silentSince: number | undefined
}

/** Kubernetes tells of OSDs that come and go; only what it cannot see waits so long. */
const defaultCalmMs = 60_000
/** A Ceph that just did not answer is not asked again so soon: each try may hold up what Kubernetes alone can tell. */
const silentMs = 1_000
/** Several causes of one look within a second share it. */
const busyMs = 1_000
/** While something is under way, everything is read anew so often, whatever the short answer says. */
const busyReadMs = 60_000

/** What Ceph said last, for each cluster, and since when it says nothing. */
export class CephLooks {
  readonly #ports: CephLookPorts
  readonly #calmMs: number
  readonly #memories = new Map<string, Memory>()

  constructor(ports: CephLookPorts) {
    this.#ports = ports
    this.#calmMs = ports.calmMs ?? defaultCalmMs
  }

  /** Something happened that changes what Ceph has to say: the next look goes there. */
  disturb(key: string): void {
    const memory = this.#memoryOf(key)
    memory.isDisturbed = true
    memory.disturbedAt = this.#ports.clock.now()
  }

  forget(key: string): void {
    this.#memories.delete(key)
  }

  sinceDisturbedMs(key: string): number {
    return this.#ports.clock.now() - this.#memoryOf(key).disturbedAt
  }

  /** When the question was put whose answer was heard last; undefined: none was. */
  askedAtMs(key: string): number | undefined {
    const { askedAt = Number.NEGATIVE_INFINITY } = this.#memories.get(key) ?? {}
    return Number.isFinite(askedAt) ? askedAt : undefined
  }

  /** When a calm cluster is to be looked at again, from now: so long after the last look, whatever else happened since. */
  dueInMs(key: string): number {
    return Math.max(0, this.#memoryOf(key).lookedAt + this.#calmMs - this.#ports.clock.now())
  }

  silentSince(key: string): number | undefined {
    return this.#memories.get(key)?.silentSince
  }

  /**
   * The map of Ceph, as old as calm allows.
   *
   * Fails closed: whatever goes wrong on the way is a map that is not known.
   */
  async look(look: CephLook): Promise<Observed<CephMap>> {
    const memory = this.#memoryOf(look.key)
    if (memory.failure !== undefined && this.#ports.clock.now() - memory.failedAt < silentMs) return memory.failure
    const isDisturbed = memory.isDisturbed
    // Taken back before the question, so that what happens while it is under way asks for another.
    memory.isDisturbed = false
    const beganAt = this.#ports.clock.now()
    const seen = isDisturbed ? undefined : await this.#recall(memory, look)
    const answer = seen ?? (await this.#ask(look, (ceph) => this.#ports.observeMap(ceph, look.signal)))
    if (!answer.known) {
      memory.isDisturbed = true
      memory.failure = answer
      memory.failedAt = this.#ports.clock.now()
      memory.silentSince ??= memory.failedAt
      return answer
    }
    if (seen === undefined) {
      memory.readAt = this.#ports.clock.now()
      memory.lookedAt = memory.readAt
      memory.askedAt = beganAt
    }
    memory.map = answer.value
    memory.failure = undefined
    memory.silentSince = undefined
    return answer
  }

  /** What is remembered, if it can still be right; undefined when Ceph must be asked for everything. */
  async #recall(memory: Memory, look: CephLook): Promise<Observed<CephMap> | undefined> {
    const { map } = memory
    const now = this.#ports.clock.now()
    if (map === undefined || look.pace === 'unsettled') return undefined
    if (now - memory.lookedAt < (look.pace === 'calm' ? this.#calmMs : busyMs)) return known(map)
    if (look.pace === 'busy' && now - memory.readAt >= busyReadMs) return undefined
    const pulse = await this.#ask(look, (ceph) => this.#ports.observePulse(ceph, look.signal))
    if (!pulse.known) return pulse
    if (!isUnchanged(map, pulse.value, look.isHealthyState)) return undefined
    memory.lookedAt = this.#ports.clock.now()
    memory.askedAt = now
    return known(map)
  }

  async #ask<T>(
    { ceph, signal }: CephLook,
    question: (ceph: CephCommands) => Promise<Observed<T>>,
  ): Promise<Observed<T>> {
    if (ceph === undefined) return unknown('no way to reach this Ceph is known')
    try {
      return await question(ceph)
    } catch (error) {
      signal.throwIfAborted()
      return unknown(error instanceof Error ? error.message : String(error))
    }
  }

  #memoryOf(key: string): Memory {
    let memory = this.#memories.get(key)
    if (memory === undefined) {
      memory = {
        map: undefined,
        readAt: Number.NEGATIVE_INFINITY,
        lookedAt: Number.NEGATIVE_INFINITY,
        askedAt: Number.NEGATIVE_INFINITY,
        isDisturbed: false,
        disturbedAt: Number.NEGATIVE_INFINITY,
        failure: undefined,
        failedAt: Number.NEGATIVE_INFINITY,
        silentSince: undefined,
      }
      this.#memories.set(key, memory)
    }
    return memory
  }
}

/** Placement follows the epoch of the map; within one epoch only the states of placement groups change. */
function isUnchanged(map: CephMap, pulse: CephPulse, isHealthyState: (state: string) => boolean): boolean {
  if (pulse.epoch !== map.epoch) return false
  const { states, stateNames } = map.pgs
  const counts: Record<string, number> = {}
  for (const state of states) {
    const name = stateNames[state] as string
    counts[name] = (counts[name] ?? 0) + 1
  }
  const isHealthy = (byState: Readonly<Record<string, number>>) => Object.keys(byState).every(isHealthyState)
  // Scrubbing comes and goes all day, and means nothing here.
  return (isHealthy(counts) && isHealthy(pulse.pgStates)) || isSameJson(counts, pulse.pgStates)
}
