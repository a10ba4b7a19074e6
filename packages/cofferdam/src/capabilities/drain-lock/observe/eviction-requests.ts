import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import {
  type EvictionRequest,
  evictionRequests,
  type LifecycleEviction,
  lifecycleEvictions,
} from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { EvictionAsk, ResponderFacts, ResponderProgress, SeenResponders } from '../domain/responder-facts.ts'
import { createdMs } from './objects.ts'

export const observeRespondersPermissions: readonly Permission[] = [
  { group: evictionRequests.group, resource: evictionRequests.plural, verbs: ['list'] },
  { group: lifecycleEvictions.group, resource: lifecycleEvictions.plural, verbs: ['list'] },
]

/** On an EvictionRequest: the uid of the NodeDisruption that it was made for. */
export const requestLabel = 'cofferdam.io/request'

interface RespondersQuestion extends Pick<SeenResponders, 'refused'> {
  readonly requestId: string
  readonly namespaces: ReadonlySet<string>
}

/**
 * The EvictionRequests of a NodeDisruption, and how far the responders of pods in these namespaces have come, as the API server has them.
 * Undefined: it does not serve them.
 */
export async function observeResponders(
  api: Pick<KubeApi, 'list'>,
  { requestId, namespaces, refused }: RespondersQuestion,
  signal: AbortSignal,
): Promise<ResponderFacts | undefined> {
  try {
    const [asked, ...evictions] = await Promise.all([
      api.list(evictionRequests, { labelSelector: `${requestLabel}=${requestId}`, signal }),
      ...[...namespaces].map((namespace) => api.list(lifecycleEvictions, { namespace, signal })),
    ])
    return {
      state: 'seen',
      asks: asked.items.map(parseEvictionAsk),
      progress: evictions.flatMap(({ items }) => items.map(parseProgress)),
      refused,
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 404) return undefined
    return { state: error.code === 403 ? 'refused' : 'unknown', why: error.message }
  }
}

export function parseEvictionAsk(request: EvictionRequest): EvictionAsk {
  const { metadata, spec } = request
  const hasEnded = ['Failed', 'TargetEvicted'].some((type) => conditionOf(request, type)?.status === 'True')
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    podUid: spec?.target?.pod?.uid ?? '',
    createdMs: createdMs(metadata),
    state: spec?.intent === 'Withdrawn' ? 'withdrawn' : hasEnded ? 'ended' : 'open',
  }
}

/** What is malformed counts as no sign of life. */
function parseProgress(eviction: LifecycleEviction): ResponderProgress {
  const { spec, status } = eviction
  const said = status?.responders ?? []
  const hasFailed = conditionOf(eviction, 'Failed')?.status === 'True'
  const active = hasFailed ? undefined : status?.targetResponders?.find(({ state }) => state === 'Active')
  const own = said.find(({ name }) => name === active?.name)
  return {
    podUid: spec?.target?.pod?.uid ?? '',
    active: active && { name: active.name, expectedMs: timeOf(own?.expectedCompletionTime) },
    signsMs: said
      .flatMap(({ startTime, heartbeatTime, completionTime }) => [startTime, heartbeatTime, completionTime])
      .flatMap((time) => timeOf(time) ?? []),
  }
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseRfc3339(text)
}
