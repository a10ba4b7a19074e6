import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { guardTrialAnnotation, guardTrialAnswer } from '../../eviction-guard/domain/guard-trial.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import type { GuardTrial } from './doctor-snapshot.ts'

export interface GuardTrialQuestion {
  readonly api: Pick<KubeApi, 'list' | 'createSubresource'>
  /** Of the operator: evictions there are not shown to the guard. */
  readonly namespace: string
  /** What the guard is to say again. */
  readonly word: string
  readonly signal: AbortSignal
}

/** Tries to evict any pod, as a dry run: nothing is evicted, and the answer says whether the API server reached the guard. */
export async function tryGuard(question: GuardTrialQuestion): Promise<Observed<GuardTrial>> {
  const { api, namespace, word, signal } = question
  const refused: string[] = []
  const fieldSelector = `metadata.namespace!=${namespace}`
  const found = await ifAllowed('pods', refused, () => api.list(pods, { fieldSelector, limit: 1, signal }))
  const pod = found?.items[0]
  if (pod === undefined) return unknown(refused[0] ?? 'there is no pod outside of its namespace')
  const { name, namespace: where = '' } = pod.metadata
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: where, annotations: { [guardTrialAnnotation]: word } },
  }
  try {
    await api.createSubresource(pods, { namespace: where, name }, 'eviction', eviction, { dryRun: true, signal })
    return known({ isHeard: false, says: 'the API server let it pass without asking it' })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { message, reason } = error
    if (message.includes(guardTrialAnswer(word))) return known({ isHeard: true })
    if (reason === 'Forbidden') return unknown('you may not evict pods')
    if (reason === 'NotFound') return unknown('the pod that was chosen is gone')
    return known({ isHeard: false, says: message })
  }
}
