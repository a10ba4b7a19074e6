import type { FencingDecision } from '../domain/fencing/decision.ts'
import type { FencingObjects } from '../domain/fencing/parse-fencing.ts'
import type { FencingSnapshot, RemediatorView } from '../domain/fencing/snapshot.ts'
import type { Clock } from '../runtime/clock.ts'

type Problem = FencingDecision['problems'][number]

/** How long a remediator may take to show that it has heard us. */
const reactionMs = 120_000

/** Whether whoever we asked to wait shows that he heard it. A pause that nobody reads holds nobody. */
export class RemediatorListeners {
  readonly #clock: Clock
  /** Since when a remediator has been paused by us without saying so. */
  readonly #askedAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is wrong, and how soon to look again for it. */
  check(
    { remediators }: FencingSnapshot,
    objects: FencingObjects,
  ): {
    readonly problems: readonly Problem[]
    readonly recheckAfterSeconds: number | undefined
  } {
    const now = this.#clock.now()
    const problems: Problem[] = []
    const waits: number[] = []
    const silent = new Set<string>()
    for (const remediator of remediators) {
      const id = `${remediator.kind}/${remediator.key}`
      if (!remediator.isPausedByUs || hasHeard(remediator, objects)) continue
      silent.add(id)
      const since = this.#askedAt.get(id) ?? now
      this.#askedAt.set(id, since)
      const leftMs = since + reactionMs - now
      if (leftMs > 0) waits.push(leftMs)
      else {
        problems.push({
          object: id,
          problem: `it was asked to wait ${Math.round((now - since) / 60_000)} minutes ago and does not say that it does: nobody listens`,
        })
      }
    }
    for (const id of this.#askedAt.keys()) if (!silent.has(id)) this.#askedAt.delete(id)
    return { problems, recheckAfterSeconds: waits.length === 0 ? undefined : Math.ceil(Math.min(...waits) / 1_000) }
  }
}

/** OpenShift's health checks say nothing of a pause: there, that somebody counts machines has to do. */
function hasHeard({ kind, key, isAlive }: RemediatorView, { nodeHealthChecks }: FencingObjects): boolean {
  if (kind !== 'medik8s-nhc') return isAlive.known && isAlive.value
  return nodeHealthChecks.some(({ metadata, status }) => metadata.name === key && status?.phase === 'Paused')
}
