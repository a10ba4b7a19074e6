import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeList, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi, ListQuery, WatchEvent, WatchQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { HazardPorts, Hazards } from './hazards.ts'

type Elder = NonNullable<Hazards['elder']>

/** The server that has fallen behind and answers at this moment; undefined: all answer as they should. */
export function elderOf({ clock, hazards }: HazardPorts): Elder | undefined {
  return hazards.map(({ elder }) => elder).find((elder) => elder !== undefined && clock.now() < elder.untilMs)
}

/** The state as of that version. What the history no longer holds is answered as it is now. */
export async function listBehind<T extends KubeObject>(
  api: KubeApi,
  {
    type,
    query = {},
    elder,
  }: { readonly type: ResourceType<T>; readonly query?: ListQuery | undefined; readonly elder: Elder },
): Promise<KubeList<T>> {
  if (query.continueToken !== undefined) return api.list(type, query)
  const { resourceVersion } = elder
  return api.list(type, { ...query, resourceVersion, resourceVersionMatch: 'Exact' }).catch((error: unknown) => {
    if (hasReason(error, 'Expired')) return api.list(type, query)
    throw error
  })
}

/** As a server that is behind does it: the state as it was, then nothing until it has caught up; who has seen more is refused. */
export async function* watchBehind<T extends KubeObject>(
  api: KubeApi,
  {
    type,
    query = {},
    elder,
    clock,
  }: {
    readonly type: ResourceType<T>
    readonly query?: WatchQuery | undefined
    readonly elder: Elder
    readonly clock: Clock
  },
): AsyncGenerator<WatchEvent<T>> {
  const { sendInitialEvents, resourceVersionMatch: _, ...rest } = query
  if (sendInitialEvents !== true && Number(query.resourceVersion) > Number(elder.resourceVersion))
    throw tooLarge(query.resourceVersion ?? '', elder)
  let { resourceVersion } = elder
  if (sendInitialEvents === true) {
    const { namespace, labelSelector, fieldSelector } = query
    const selection = {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    }
    const list = await listBehind(api, { type, query: selection, elder })
    for (const object of list.items) yield { type: 'ADDED', object }
    resourceVersion = list.resourceVersion
    yield { type: 'BOOKMARK', resourceVersion, initialEventsEnd: true }
  } else resourceVersion = query.resourceVersion ?? resourceVersion
  await sleep(clock, elder.untilMs - clock.now(), query.signal)
  yield* api.watch(type, { ...rest, resourceVersion })
}

function tooLarge(asked: string, { resourceVersion }: Elder): ApiError {
  return new ApiError('Timeout', `Too large resource version: ${asked}, current: ${resourceVersion}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}
