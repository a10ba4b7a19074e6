import { selfSubjectReviews } from '@cofferdam/kubernetes/api/authentication.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'

export interface OperatorUserOptions {
  readonly api: Pick<KubeApi, 'create'>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onError: (error: unknown) => void
}

export interface OperatorUser {
  current(): Observed<string>
  /** Resolves when it is known, or when the signal has fired. */
  readonly asked: Promise<void>
}

const retryMs = 10_000

/**
 * Asks the API server as whom it knows this process. The operator evicts with the same credentials as its guards ask with,
 * so whoever is called otherwise is not the operator.
 *
 * Guarantees: until the API server has answered, the operator is nobody. Never rejects.
 */
export function askOperatorUser({ api, clock, signal, onError }: OperatorUserOptions): OperatorUser {
  let user: Observed<string> = unknown('the API server has not said yet')

  async function ask(): Promise<void> {
    while (!signal.aborted) {
      const before = user
      user = await reviewed().catch((error: unknown) => unknown(error instanceof Error ? error.message : String(error)))
      if (user.known || signal.aborted) return
      // The same failure is reported once.
      const isRelevant = before.known || before.why !== user.why
      if (isRelevant)
        onError(new Error(`eviction tokens are ignored: the operator's own user is not known: ${user.why}`))
      await sleep(clock, retryMs, signal)
    }
  }

  async function reviewed(): Promise<Observed<string>> {
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: { name: '' },
    } as const
    const { status } = await api.create(selfSubjectReviews, review, { signal })
    const username = status?.userInfo?.username ?? ''
    return username === '' ? unknown('its SelfSubjectReview names no user') : known(username)
  }

  return { current: () => user, asked: ask() }
}
