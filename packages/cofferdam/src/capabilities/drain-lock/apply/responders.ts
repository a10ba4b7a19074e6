import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type EvictionRequest, evictionRequests } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { PodReference } from '../../../shared/object-references.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { EvictionAsk } from '../domain/responder-facts.ts'
import type { AskResponders, WithdrawAsks } from '../domain/steps.ts'
import { parseEvictionAsk, requestLabel } from '../observe/eviction-requests.ts'

export const askRespondersPermissions: readonly Permission[] = [
  { group: evictionRequests.group, resource: evictionRequests.plural, verbs: ['create', 'patch'] },
]

/** As which all EvictionRequests of ours are made. */
export const requesterName = 'cofferdam.io/drain'

/** Asks the responders of pods to move them, by EvictionRequests, and remembers for which pods that was refused. */
export class ResponderAsker {
  readonly #api: Pick<KubeApi, 'create' | 'patch'>
  readonly #refused = new Map<string, Map<string, string>>()

  constructor(api: Pick<KubeApi, 'create' | 'patch'>) {
    this.#api = api
  }

  /** Pods whose EvictionRequest could not be written, by uid, with the answer of the API server. */
  refused(requestId: string): ReadonlyMap<string, string> {
    return this.#refused.get(requestId) ?? new Map()
  }

  forget(requestId: string): void {
    this.#refused.delete(requestId)
  }

  /** Whether all of them are asked now. */
  async ask({ pods, requestId }: AskResponders, signal: AbortSignal): Promise<boolean> {
    let areAllAsked = true
    for (const pod of pods) {
      const object = buildEvictionRequest(pod, requestId)
      const isAsked = await this.#unlessRefused(requestId, pod.uid, () => createOnce(this.#api, object, signal))
      areAllAsked &&= isAsked
    }
    return areAllAsked
  }

  /** Whether all of them are withdrawn now. */
  async withdraw({ asks, requestId }: WithdrawAsks, signal: AbortSignal): Promise<boolean> {
    let areAllWithdrawn = true
    for (const ask of asks) {
      const isWithdrawn = await this.#unlessRefused(requestId, ask.podUid, () => withdrawAsk(this.#api, ask, signal))
      areAllWithdrawn &&= isWithdrawn
    }
    return areAllWithdrawn
  }

  /** What the server may answer otherwise the next time is thrown, and tried again. */
  async #unlessRefused(requestId: string, podUid: string, write: () => Promise<void>): Promise<boolean> {
    try {
      await write()
      return true
    } catch (error) {
      if (!isRefusal(error)) throw error
      const refused = this.#refused.get(requestId) ?? new Map<string, string>()
      this.#refused.set(requestId, refused.set(podUid, error.message))
      return false
    }
  }
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code < 500 && ![409, 429].includes(error.code)
}

/** Takes back an EvictionRequest of ours. The object stays for its responders to see, and goes with its pod. */
async function withdrawAsk(
  api: Pick<KubeApi, 'patch'>,
  { namespace, name }: Pick<EvictionAsk, 'namespace' | 'name'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const body = { spec: { intent: 'Withdrawn' } }
    await api.patch(evictionRequests, { namespace, name }, { type: 'merge', body }, { signal })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}

/** Withdraws everything that was asked for a request, as far as that is allowed. */
export async function withdrawAll(
  api: Pick<KubeApi, 'list' | 'patch'>,
  requestId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { items } = await api.list(evictionRequests, { labelSelector: `${requestLabel}=${requestId}`, signal })
    const open = items.map(parseEvictionAsk).filter(({ state }) => state === 'open')
    for (const ask of open) await withdrawAsk(api, ask, signal)
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
}

/** One that is there already was made for the same pod and the same request: its name says so. */
async function createOnce(api: Pick<KubeApi, 'create'>, object: EvictionRequest, signal: AbortSignal): Promise<void> {
  try {
    await api.create(evictionRequests, object, { signal })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
  }
}

function buildEvictionRequest({ namespace, name, uid }: PodReference, requestId: string): EvictionRequest {
  return {
    apiVersion: apiVersionOf(evictionRequests),
    kind: evictionRequests.kind,
    metadata: {
      namespace,
      name: `cofferdam-${requestId}-${uid}`,
      labels: { [requestLabel]: requestId },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
    },
    spec: { target: { pod: { name, uid } }, requesterName, intent: 'Eviction' },
  }
}
