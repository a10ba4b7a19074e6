import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi, Patch } from '@cofferdam/kubernetes/client/kube-api.ts'

/** One write as the API server got it. */
export interface Write {
  readonly actor: string
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'evict'
  readonly type: ResourceType
  readonly key: ObjectKey
  readonly subresource?: string | undefined
  readonly body?: unknown
  readonly isDryRun: boolean
}

export interface WitnessPorts {
  /** Before it is carried out; what it returns is called when it was. */
  readonly onWrite: (write: Write) => (() => void) | undefined
  /** Who writes at this moment. */
  readonly current: { writer: string }
}

/** The same API; every write of this actor is seen, in the order in which the server gets them. */
export function witnessed(api: KubeApi, actor: string, { onWrite, current }: WitnessPorts): KubeApi {
  const seen = async <T>(write: Omit<Write, 'actor'>, call: () => Promise<T>): Promise<T> => {
    const done = onWrite({ actor, ...write })
    // Most calls are carried out at once, before anybody else can write.
    const before = current.writer
    current.writer = actor
    const answering = call()
    current.writer = before
    const answer = await answering
    done?.()
    return answer
  }
  return {
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    create: (type, object, options) =>
      seen(
        {
          verb: 'create',
          type: type as ResourceType,
          key: object.metadata,
          body: object,
          isDryRun: options?.dryRun === true,
        },
        () => api.create(type, object, options),
      ),
    createSubresource: (type, key, subresource, body, options) =>
      seen(
        {
          verb: subresource === 'eviction' ? 'evict' : 'create',
          type,
          key,
          subresource,
          body,
          isDryRun: options?.dryRun === true,
        },
        () => api.createSubresource(type, key, subresource, body, options),
      ),
    update: (type, object, options) =>
      seen(
        {
          verb: 'update',
          type: type as ResourceType,
          key: object.metadata,
          subresource: options?.subresource,
          body: object,
          isDryRun: options?.dryRun === true,
        },
        () => api.update(type, object, options),
      ),
    patch: (type, key, patch, options) =>
      seen(
        {
          verb: 'patch',
          type: type as ResourceType,
          key,
          subresource: options?.subresource,
          body: bodyOf(patch),
          isDryRun: options?.dryRun === true,
        },
        () => api.patch(type, key, patch, options),
      ),
    delete: (type, key, options) =>
      seen({ verb: 'delete', type: type as ResourceType, key, isDryRun: options?.dryRun === true }, () =>
        api.delete(type, key, options),
      ),
    deleteCollection: (type, query, options) =>
      seen({ verb: 'deletecollection', type, key: { name: '*' }, isDryRun: options?.dryRun === true }, () =>
        api.deleteCollection(type, query, options),
      ),
  }
}

function bodyOf({ body }: Patch): JsonObject | readonly unknown[] {
  return body
}

/** `patch nodes/node-1`. */
export function writeText({ verb, type, key, subresource, body }: Write): string {
  const part = subresource === undefined || subresource === 'eviction' ? '' : `/${subresource}`
  const name = keyText({ ...(key.namespace && { namespace: key.namespace }), name: key.name })
  return `${verb} ${type.plural}/${name}${part}${type.plural === 'events' ? `: ${eventText(body)}` : ''}`
}

/** What the operator gives as its reason explains the writes around it. */
function eventText(body: unknown): string {
  const { reason, message, note } = (body ?? {}) as { reason?: string; message?: string; note?: string }
  return `${reason} ${message ?? note}`.slice(0, 300)
}
