import type { CephMap } from '../../safety/ceph-map.ts'
import { type ProbeQuestion, probeQuestion } from '../../safety/probe-question.ts'
import type { CephCommands } from '../ceph-commands.ts'
import type { CephPorts } from './ceph-ports.ts'

export interface ProbeRequest {
  /** The cluster: `namespace/name`. */
  readonly key: string
  readonly isClean: boolean
  /** Undefined where it is not known, or where nothing is to be asked. */
  readonly map: CephMap | undefined
  readonly ceph: CephCommands | undefined
  readonly signal: AbortSignal
}

/** Result of the ok-to-stop probe. */
interface Probe {
  /** Undefined: it answered as it must. */
  readonly problem: string | undefined
  /** Daemons went since, and may have come back as another release. */
  isStale: boolean
}

/**
 * Asks Ceph about OSDs that certainly may not go together. A yes is reported and blocks nothing: it makes Ceph's ok-to-stop check worth
 * nothing, and leaves ours as it was.
 */
export class OkToStopProbes {
  readonly #ceph: Pick<CephPorts, 'askOkToStop'>
  readonly #probes = new Map<string, Probe>()

  constructor(ceph: Pick<CephPorts, 'askOkToStop'>) {
    this.#ceph = ceph
  }

  /** What is wrong with Ceph's ok-to-stop check, as far as it was probed. */
  problemOf(key: string): string | undefined {
    return this.#probes.get(key)?.problem
  }

  forget(key: string): void {
    this.#probes.delete(key)
  }

  /** To be called for every snapshot: where data is not clean daemons may have gone. */
  see(key: string, isClean: boolean): void {
    const held = this.#probes.get(key)
    if (held !== undefined && !isClean) held.isStale = true
  }

  /** Nobody has tried it since daemons went, or ever. */
  isDue(key: string): boolean {
    return this.#probes.get(key)?.isStale !== false
  }

  /** What Ceph said to the question; returns whether that is a change. */
  hear(key: string, question: ProbeQuestion, isSafe: boolean): boolean {
    const before = this.problemOf(key)
    const problem = isSafe ? misjudged(question) : undefined
    this.#probes.set(key, { problem, isStale: false })
    return problem !== before
  }

  /** Probes once while everything is clean; returns whether the result is a change. */
  async try({ key, isClean, map, ceph, signal }: ProbeRequest): Promise<boolean> {
    this.see(key, isClean)
    if (!this.isDue(key) || !isClean || map === undefined || ceph === undefined) return false
    const question = probeQuestion(map)
    if (question === undefined) return false
    const answer = await this.#ceph.askOkToStop(ceph, question.osds, signal)
    return answer.known && this.hear(key, question, answer.value)
  }
}

function misjudged({ osds, group }: ProbeQuestion): string {
  const named = osds.map((id) => `osd.${id}`).join(' and ')
  return `ceph osd ok-to-stop calls ${named} safe to stop together, although placement group ${group} would be unavailable: the ok-to-stop check of this Ceph release is wrong and is ignored; only Cofferdam's own calculation protects the data`
}
