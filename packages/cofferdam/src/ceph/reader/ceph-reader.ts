import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type Clock, elapsedMs } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephMap } from '../../safety/ceph-map.ts'
import type { CephView } from '../../safety/ceph-view.ts'
import type { buildSafetyIndex } from '../../safety/safety-index.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import type { CephCommands } from '../ceph-commands.ts'
import { CephJudge, type Judgement } from './ceph-judge.ts'
import { type CephPulse, hasSameParts, isUnchanged } from './unchanged-map.ts'

export interface CephReaderPorts {
  readonly clock: Clock
  observeMap(ceph: CephCommands, signal: AbortSignal): Promise<Observed<CephMap>>
  observePulse(ceph: CephCommands, signal: AbortSignal): Promise<Observed<CephPulse>>
  /** Whoever counts how often that happens passes their own. */
  readonly buildIndex?: typeof buildSafetyIndex
}

export interface CephQuestioner {
  /** The cluster: `namespace/name`. */
  readonly key: string
  /** Who asks, by the name of its controller. */
  readonly asker: string
  /** Undefined where no way to the cluster is known. */
  readonly ceph: CephCommands | undefined
  /** How old the answer may be. */
  readonly accepts: AcceptedAge
  readonly isHealthyState: (state: string) => boolean
  readonly signal: AbortSignal
}

/**
 * `calm`: nothing is open, unclean or awaited: an answer as old as `calmMs` will do. `busy`: something is under way, and Ceph's
 * answers are up to date: a second. `unsettled`: Ceph has not caught up with the last change, so every answer may be a new one: a map
 * that was read within the last second, whole, and that this asker has not been given yet. `anew`: only a reading that begins now.
 */
export type AcceptedAge =
  | { readonly pace: 'calm'; readonly calmMs: number }
  | { readonly pace: 'busy' | 'unsettled' | 'anew' }

export type Pace = AcceptedAge['pace']

export interface CephAnswer {
  readonly map: Observed<CephMap>
  /** When the question was put whose answer was heard last; undefined: none was. */
  readonly askedAtMs: number | undefined
}

/** One reading of all of Ceph's map. */
interface Reading {
  /** The later one has the higher number. */
  readonly number: number
  readonly beganAt: number
  /** The same by the hand of the clock that is never turned. */
  readonly beganElapsedMs: number
  /** How many disturbances had been reported when it began. */
  readonly disturbances: number
}

interface HeardAnswer extends CephAnswer {
  /** The number of the reading that it is from. */
  readonly number: number
}

interface HeardPulse {
  readonly askedAt: number
  readonly hints: number
  readonly pulse: CephPulse
}

interface Memory {
  map: CephMap | undefined
  /** The reading that `map` comes from. */
  reading: Reading | undefined
  /** The epoch of `map`, and since when it is known here. */
  epoch: { readonly number: number; readonly sinceElapsedMs: number } | undefined
  /** When all of the map was read. */
  readAt: number
  /** When Ceph was last asked, if only whether anything changed. */
  polledAt: number
  /** When that question was put: what it says may be from then. */
  askedAt: number
  disturbances: number
  disturbedAt: number
  /** When there was last a hint that something may have changed. */
  hintedAt: number
  /** How many hints there were. */
  hints: number
  /** The last short answer, when it was asked for, and how many hints there had been. */
  pulse: HeardPulse | undefined
  failure: Observed<CephMap> | undefined
  failedAt: number
  silentSince: number | undefined
  readings: number
  underWay: (Reading & { readonly answer: Promise<HeardAnswer> }) | undefined
  /** By asker: the number of the reading that it was given last. */
  readonly given: Map<string, number>
}

/** Kubernetes reports OSDs that come and go; only what it cannot see waits so long. */
export const defaultCalmMs = 60_000
/** A Ceph that just did not answer is not asked again so soon: each try may hold up what Kubernetes alone can show. */
const silentMs = 1_000
/** Several causes of one poll within a second share it, whoever has them. */
const busyMs = 1_000
/** Who asks for the short answer twice in one pass means the same moment. */
const sameMomentMs = 250
/** While something is under way, everything is read anew so often, whatever the short answer says. */
const busyReadMs = 60_000
/**
 * Within this time of a new epoch every placement group has told the mgr where it is by that epoch: in a real Ceph it took 7 s at most. A
 * map that was read before has the new CRUSH tree beside the old places, and the short answer does not show when they change.
 */
const reportedMs = 15_000

/**
 * What Ceph said last, for each cluster, and since when it says nothing: one for all who ask, so that a map that was read for one is there
 * for the others, with one safety index.
 *
 * Guarantees: nobody is given a map that is older than it accepts, or whose reading began before the last disturbance. A map that says
 * the same as the one before is the same object.
 * Fails closed: whatever goes wrong meanwhile is a map that is not known, for everybody who asks within the next second.
 */
export class CephReader {
  readonly #ports: CephReaderPorts
  readonly #judge: CephJudge
  readonly #memories = new Map<string, Memory>()

  constructor(ports: CephReaderPorts) {
    this.#ports = ports
    this.#judge = new CephJudge(ports.buildIndex)
  }

  /** Something happened that changes what Ceph has to say: the next snapshot polls Ceph, whoever takes it. */
  disturb(key: string): void {
    const memory = this.#memoryOf(key)
    memory.disturbances += 1
    memory.disturbedAt = this.#ports.clock.now()
  }

  /** Something may have happened: who is given an answer from now on is given one to a later question, and be it a short one. */
  hint(key: string): void {
    const memory = this.#memoryOf(key)
    memory.hints += 1
    memory.hintedAt = this.#ports.clock.now()
  }

  forget(key: string): void {
    this.#memories.delete(key)
  }

  sinceDisturbedMs(key: string): number {
    return this.#ports.clock.now() - this.#memoryOf(key).disturbedAt
  }

  /** When the question was put whose answer was heard last, by anybody; undefined: none was. */
  askedAtMs(key: string): number | undefined {
    const { askedAt = Number.NEGATIVE_INFINITY } = this.#memories.get(key) ?? {}
    return Number.isFinite(askedAt) ? askedAt : undefined
  }

  /** What was heard last, however long ago, without asking anything. */
  last(key: string): CephAnswer {
    const { map } = this.#memories.get(key) ?? {}
    return { map: map === undefined ? unknown('Ceph is not polled yet') : known(map), askedAtMs: this.askedAtMs(key) }
  }

  /** When a calm cluster is to be polled again, from now: so long after the last poll, whatever else happened since. */
  dueInMs(key: string, calmMs: number): number {
    return Math.max(0, this.#memoryOf(key).polledAt + calmMs - this.#ports.clock.now())
  }

  silentSince(key: string): number | undefined {
    return this.#memories.get(key)?.silentSince
  }

  /** What decisions need to know of one map. */
  judge(judgement: Judgement): CephView {
    return this.#judge.judge(judgement)
  }

  /**
   * Whether there was a hint since Ceph was asked, and fewer OSDs are up than in the map that was read last. The mons say it at once, while
   * placement groups have to be heard from a mgr, which may have gone with the same machine. What is not known counts as no.
   */
  async hearsOfLoss(question: Pick<CephQuestioner, 'key' | 'ceph' | 'signal'>): Promise<boolean> {
    const memory = this.#memoryOf(question.key)
    const { map, hints, hintedAt, askedAt, pulse: last } = memory
    if (map === undefined || hintedAt < askedAt || last?.hints === hints) return false
    const pulse = await this.#pulse(memory, question)
    return pulse.known && pulse.value.pulse.upOsds < map.osds.filter(({ isUp }) => isUp).length
  }

  /** The map of Ceph, no older than the asker accepts. */
  async poll(question: CephQuestioner): Promise<CephAnswer> {
    const memory = this.#memoryOf(question.key)
    const { map, askedAtMs, number } = await this.#poll(memory, question)
    memory.given.set(question.asker, number)
    return { map, askedAtMs }
  }

  async #poll(memory: Memory, question: CephQuestioner): Promise<HeardAnswer> {
    for (;;) {
      const now = this.#ports.clock.now()
      if (memory.failure !== undefined && isWithin(now, memory.failedAt, silentMs))
        return answerOf(memory, memory.failure)
      if (memory.map !== undefined && isFreshEnough(memory, question, now)) return answerOf(memory, known(memory.map))
      const { underWay } = memory
      const mayJoin =
        underWay !== undefined &&
        question.accepts.pace !== 'anew' &&
        underWay.disturbances === memory.disturbances &&
        underWay.beganAt >= memory.hintedAt &&
        isWithin(now, underWay.beganAt, busyMs)
      if (!mayJoin) {
        const maySuffice = mayRecall(memory, question, now) && !isOutdated(memory, elapsedMs(this.#ports.clock))
        const recalled = maySuffice ? await this.#recall(memory, question) : undefined
        return recalled ?? this.#read(memory, question)
      }
      const joined = await underWay.answer.catch(() => undefined)
      question.signal.throwIfAborted()
      if (joined !== undefined) return joined
      // Its caller was stopped.
    }
  }

  /** What is remembered, where a short answer of Ceph shows that it is right still; undefined when all must be read. */
  async #recall(memory: Memory, question: CephQuestioner): Promise<HeardAnswer | undefined> {
    const { map, reading } = memory
    if (map === undefined) return undefined
    const heard = await this.#pulse(memory, question)
    if (!heard.known) return this.#fail(memory, heard)
    const { pulse, askedAt } = heard.value
    if (pulse.isWithoutMgr === true)
      return this.#fail(memory, unknown('no mgr is active, so the state of placement groups is not known'))
    if (memory.reading !== reading || !isUnchanged(map, pulse, question.isHealthyState)) return undefined
    memory.polledAt = this.#ports.clock.now()
    memory.askedAt = askedAt
    return this.#answered(memory, map)
  }

  /** The short answer of Ceph; that of this moment where there was one since the last hint. */
  async #pulse(memory: Memory, question: Pick<CephQuestioner, 'ceph' | 'signal'>): Promise<Observed<HeardPulse>> {
    const askedAt = this.#ports.clock.now()
    const { pulse: last, hints } = memory
    if (last?.hints === hints && isWithin(askedAt, last.askedAt, sameMomentMs)) return known(last)
    const pulse = await this.#ask(question, (ceph) => this.#ports.observePulse(ceph, question.signal))
    if (!pulse.known) return pulse
    const heard = { askedAt, hints, pulse: pulse.value }
    if (askedAt >= (memory.pulse?.askedAt ?? askedAt)) memory.pulse = heard
    return known(heard)
  }

  #read(memory: Memory, question: CephQuestioner): Promise<HeardAnswer> {
    memory.readings += 1
    const { readings: number, disturbances } = memory
    const { clock } = this.#ports
    const reading = { number, beganAt: clock.now(), beganElapsedMs: elapsedMs(clock), disturbances }
    const answer = this.#readAll(memory, question, reading)
    const underWay = { ...reading, answer }
    memory.underWay = underWay
    const end = () => {
      if (memory.underWay === underWay) memory.underWay = undefined
    }
    answer.then(end, end)
    return answer
  }

  async #readAll(memory: Memory, question: CephQuestioner, reading: Reading): Promise<HeardAnswer> {
    const answer = await this.#ask(question, (ceph) => this.#ports.observeMap(ceph, question.signal))
    // A later one has ended before: what it heard counts.
    if (reading.number < (memory.reading?.number ?? 0))
      return { map: answer, askedAtMs: reading.beganAt, number: reading.number }
    if (!answer.known) return this.#fail(memory, answer)
    memory.reading = reading
    if (memory.epoch?.number !== answer.value.epoch)
      memory.epoch = { number: answer.value.epoch, sinceElapsedMs: reading.beganElapsedMs }
    memory.readAt = this.#ports.clock.now()
    memory.polledAt = memory.readAt
    memory.askedAt = reading.beganAt
    const { map: before } = memory
    return this.#answered(memory, before !== undefined && hasSameParts(before, answer.value) ? before : answer.value)
  }

  #answered(memory: Memory, map: CephMap): HeardAnswer {
    memory.map = map
    memory.failure = undefined
    memory.silentSince = undefined
    return answerOf(memory, known(map))
  }

  #fail(memory: Memory, failure: Observed<CephMap> & { readonly known: false }): HeardAnswer {
    memory.failure = failure
    memory.failedAt = this.#ports.clock.now()
    memory.silentSince ??= memory.failedAt
    // What was known before it fell silent is not relied on after.
    memory.disturbances += 1
    return answerOf(memory, failure)
  }

  async #ask<T>(
    { ceph, signal }: Pick<CephQuestioner, 'ceph' | 'signal'>,
    question: (ceph: CephCommands) => Promise<Observed<T>>,
  ): Promise<Observed<T>> {
    if (ceph === undefined) return unknown('no way to reach this Ceph is known')
    try {
      const answer = await question(ceph)
      // A caller that was stopped has heard nothing that others should know of.
      signal.throwIfAborted()
      return answer
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
        reading: undefined,
        epoch: undefined,
        readAt: Number.NEGATIVE_INFINITY,
        polledAt: Number.NEGATIVE_INFINITY,
        askedAt: Number.NEGATIVE_INFINITY,
        disturbances: 0,
        disturbedAt: Number.NEGATIVE_INFINITY,
        hintedAt: Number.NEGATIVE_INFINITY,
        hints: 0,
        pulse: undefined,
        failure: undefined,
        failedAt: Number.NEGATIVE_INFINITY,
        silentSince: undefined,
        readings: 0,
        underWay: undefined,
        given: new Map(),
      }
      this.#memories.set(key, memory)
    }
    return memory
  }
}

function answerOf({ askedAt, reading }: Memory, map: Observed<CephMap>): HeardAnswer {
  return { map, askedAtMs: Number.isFinite(askedAt) ? askedAt : undefined, number: reading?.number ?? 0 }
}

function isUndisturbed({ reading, disturbances }: Memory): boolean {
  return reading?.disturbances === disturbances
}

/** Whether a short answer will do. */
function mayRecall(memory: Memory, { accepts: { pace } }: CephQuestioner, now: number): boolean {
  if (memory.map === undefined || !isUndisturbed(memory)) return false
  return pace === 'calm' || (pace === 'busy' && isWithin(now, memory.readAt, busyReadMs))
}

/** Whether all groups have reported by the epoch of the map by now, and had not for sure when it was read. */
function isOutdated({ map, epoch, reading }: Memory, nowElapsedMs: number): boolean {
  if (map === undefined || epoch === undefined || reading === undefined) return true
  if (map.pgs.reportedEpochs.every((reported) => reported >= map.epoch)) return false
  const reportedAt = epoch.sinceElapsedMs + reportedMs
  return reading.beganElapsedMs < reportedAt && nowElapsedMs >= reportedAt
}

/** Whether what is remembered will do without asking anything. */
function isFreshEnough(memory: Memory, { asker, accepts }: CephQuestioner, now: number): boolean {
  const { reading } = memory
  if (reading === undefined || !isUndisturbed(memory) || memory.askedAt < memory.hintedAt) return false
  switch (accepts.pace) {
    case 'calm':
      return isWithin(now, memory.polledAt, accepts.calmMs)
    case 'busy':
      return isWithin(now, memory.polledAt, busyMs)
    case 'unsettled':
      return reading.number > (memory.given.get(asker) ?? 0) && isWithin(now, reading.beganAt, busyMs)
    case 'anew':
      return false
  }
}
