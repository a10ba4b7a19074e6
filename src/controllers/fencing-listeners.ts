import type { FencingDecision } from '../domain/fencing/decision.ts'
import type { FencingObjects } from '../domain/fencing/parse-fencing.ts'
import type { FencingSnapshot, RemediatorView } from '../domain/fencing/snapshot.ts'
import type { Clock } from '../runtime/clock.ts'

type Problem = FencingDecision['problems'][number]

/** How long a remediator may take to show that it has heard us. */
const reactionMs = 120_000

/** Whether somebody looks after remediators, and shows that he heard us. A pause that nobody reads holds nobody. */
export class RemediatorListeners {
  readonly #clock: Clock
  /** Since when nobody has answered for a remediator, or for our pause of it. */
  readonly #silentSince = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * What is wrong beside what `told` says, and how soon to look again for it. Of `told`, what is about a remediator that may
   * still answer in time is left out.
   */
  check(
    { remediators }: FencingSnapshot,
    objects: FencingObjects,
    told: readonly Problem[],
  ): {
    readonly told: readonly Problem[]
    readonly problems: readonly Problem[]
    readonly recheckAfterSeconds: number | undefined
  } {
    const now = this.#clock.now()
    const problems: Problem[] = []
    const waits: number[] = []
    const young = new Set<string>()
    const silent = new Set<string>()
    for (const remediator of remediators) {
      const id = `${remediator.kind}/${remediator.key}`
      const isAlive = remediator.isAlive.known && remediator.isAlive.value
      if (isAlive && (!remediator.isPausedByUs || hasHeard(remediator, objects))) continue
      silent.add(id)
      const since = this.#silentSince.get(id) ?? now
      this.#silentSince.set(id, since)
      const leftMs = since + reactionMs - now
      if (leftMs > 0) {
        waits.push(leftMs)
        young.add(id)
      } else if (isAlive) {
        const problem = 'it was asked to wait and has not said for two minutes that it does: nobody listens'
        problems.push({ object: id, problem })
      }
    }
    for (const id of this.#silentSince.keys()) if (!silent.has(id)) this.#silentSince.delete(id)
    return {
      told: told.filter(({ object }) => !young.has(object)),
      problems,
      recheckAfterSeconds: waits.length === 0 ? undefined : Math.ceil(Math.min(...waits) / 1_000),
    }
  }
}

/** OpenShift's health checks say nothing of a pause: there, that somebody counts machines has to do. */
function hasHeard({ kind, key }: RemediatorView, { nodeHealthChecks }: FencingObjects): boolean {
  if (kind !== 'medik8s-nhc') return true
  return nodeHealthChecks.some(({ metadata, status }) => metadata.name === key && status?.phase === 'Paused')
}
