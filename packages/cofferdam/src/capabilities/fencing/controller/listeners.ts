import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { FencingDecision } from '../domain/decision.ts'
import type { FencingObjects } from '../domain/parse-fencing.ts'
import type { FencingSnapshot, RemediatorView } from '../domain/snapshot.ts'

type Problem = FencingDecision['problems'][number]

/** How long a remediator may take to show that it has heard us. */
const reactionMs = 120_000

/** Whether remediators that were asked to wait show that they heard it. A pause that nobody reads holds nobody. */
export class RemediatorListeners {
  readonly #clock: Clock
  /** Since when nobody has answered our pause of a remediator. */
  readonly #silentSince = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is wrong, and how soon to reconcile again for it. */
  check(
    { remediators }: FencingSnapshot,
    objects: FencingObjects,
  ): { readonly problems: readonly Problem[]; readonly recheckAfterSeconds: number | undefined } {
    const now = this.#clock.now()
    const problems: Problem[] = []
    const waits: number[] = []
    const silent = new Set<string>()
    for (const remediator of remediators) {
      const id = `${remediator.kind}/${remediator.key}`
      if (!remediator.isPausedByUs || hasHeard(remediator, objects)) continue
      silent.add(id)
      const since = this.#silentSince.get(id) ?? now
      this.#silentSince.set(id, since)
      const leftMs = since + reactionMs - now
      const problem =
        'it was asked to wait and has not acknowledged that for two minutes: its controller does not listen'
      if (leftMs > 0) waits.push(leftMs)
      else problems.push({ object: id, problem })
    }
    for (const id of this.#silentSince.keys()) if (!silent.has(id)) this.#silentSince.delete(id)
    return { problems, recheckAfterSeconds: waits.length === 0 ? undefined : Math.ceil(Math.min(...waits) / 1_000) }
  }
}

/** OpenShift's health checks say nothing of a pause: there, that somebody counts machines has to do. */
function hasHeard({ kind, key }: RemediatorView, { nodeHealthChecks = [] }: FencingObjects): boolean {
  if (kind !== 'medik8s-nhc') return true
  return nodeHealthChecks.some(({ metadata, status }) => metadata.name === key && status?.phase === 'Paused')
}
