import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyText, type ObjectKey, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

/** @throws CofferdamError OBJECT_NOT_FOUND whose hint is the closest name there is */
export async function findObject<T extends KubeObject>(
  type: ResourceType<T>,
  key: ObjectKey,
  { api, signal }: { readonly api: Pick<KubeApi, 'get' | 'list'>; readonly signal: AbortSignal },
): Promise<T> {
  try {
    return await api.get(type, key, { signal })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    const { namespace, name } = key
    const { items } = await api.list(type, namespace === undefined ? { signal } : { namespace, signal })
    const closest = closestName(
      name,
      items.map(({ metadata }) => metadata.name),
    )
    const scope = namespace === undefined ? '' : ` -n ${namespace}`
    throw new CofferdamError('OBJECT_NOT_FOUND', `there is no ${type.kind} ${keyText(key)}`, {
      facts: { kind: type.kind, object: keyText(key) },
      hint:
        closest === undefined ? `kubectl get ${type.plural}${scope} shows those there are` : `did you mean ${closest}?`,
    })
  }
}
