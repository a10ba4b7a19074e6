import { ApiError, type StatusReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { OtherVersion } from './other-version.ts'

/** Where a process dies at a write. */
export type CrashPosition = 'before' | 'committed'

interface Storm {
  readonly untilMs: number
  readonly rate: number
}

/** What can go wrong between a process and the API server: for one process, or for all of them. */
export interface Hazards {
  isDead: boolean
  crash: { writesLeft: number; readonly position: CrashPosition } | undefined
  /** Nothing is reached. */
  outageUntilMs: number
  /** No connection can be opened, to nobody and by nobody; watches that are open go on. */
  filesGoneUntilMs: number
  /** Of all calls so many are refused with one of these. */
  refusals: (Storm & { readonly reasons: readonly StatusReason[] }) | undefined
  /** Of all writes that are carried out so many get no answer. */
  lostReplies: Storm | undefined
  /** Of writes to what is there so many meet a conflict and are not carried out. */
  conflicts: Storm | undefined
  /** What watches say comes so late. */
  lag: { readonly untilMs: number; readonly ms: number } | undefined
  /** What watches say is said twice. */
  doublesUntilMs: number
  /** What watches say is lost until they break off, and everything is listed anew. */
  isDeaf: boolean
  /** Lists and watches are answered by a server that has fallen behind: as of that version, until it has caught up. */
  elder: { readonly resourceVersion: string; readonly untilMs: number } | undefined
  /** It writes as another version would. */
  version: OtherVersion | undefined
  /** Ends each watch that is open. */
  readonly watches: Set<() => void>
}

export function noHazards(): Hazards {
  return {
    isDead: false,
    crash: undefined,
    outageUntilMs: 0,
    filesGoneUntilMs: 0,
    refusals: undefined,
    lostReplies: undefined,
    conflicts: undefined,
    lag: undefined,
    doublesUntilMs: 0,
    isDeaf: false,
    elder: undefined,
    version: undefined,
    watches: new Set(),
  }
}

export interface HazardPorts {
  readonly clock: Clock
  readonly random: Random
  /** Those of the process first, then those of everybody. */
  readonly hazards: readonly Hazards[]
}

export function unreachable(): CofferdamError {
  return new CofferdamError('API_UNREACHABLE', 'dial tcp: connect: connection refused')
}

function noFiles(): CofferdamError {
  return new CofferdamError('API_UNREACHABLE', 'dial tcp: socket: too many open files')
}

export function isHit(storm: Storm | undefined, { clock, random }: HazardPorts): storm is Storm {
  return storm !== undefined && clock.now() < storm.untilMs && random.next() < storm.rate
}

/** What keeps a call from being made; undefined: nothing. */
export function refusalOf(ports: HazardPorts): Error | undefined {
  const { clock, hazards, random } = ports
  for (const hazard of hazards) {
    if (hazard.isDead || clock.now() < hazard.outageUntilMs) return unreachable()
    if (clock.now() < hazard.filesGoneUntilMs) return noFiles()
    const { refusals } = hazard
    if (isHit(refusals, ports)) {
      const at = Math.floor(random.next() * refusals.reasons.length)
      return new ApiError(refusals.reasons[at] as StatusReason, 'the server is busy with other things')
    }
  }
  return undefined
}

/** When the last of them is over. */
export function endMsOf({
  outageUntilMs,
  filesGoneUntilMs,
  doublesUntilMs,
  refusals,
  lostReplies,
  conflicts,
  lag,
  elder,
}: Hazards): number {
  const ends = [refusals, lostReplies, conflicts, lag, elder].map((storm) => storm?.untilMs ?? 0)
  return Math.max(outageUntilMs, filesGoneUntilMs, doublesUntilMs, ...ends)
}

/** As a server does that has forgotten how far its watchers were, or that is gone. */
export function breakWatches({ watches }: Hazards): void {
  for (const end of watches) end()
}
