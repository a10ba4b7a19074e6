import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EmbeddedApi } from '../../../api-server/embedded-api.ts'
import { decorated } from '../../../api-server/testing/decorated-api.ts'

/** Writes of this API group are refused where the definitions do not know a field, instead of losing it. */
export function strictFor(group: string): (api: EmbeddedApi) => KubeApi {
  const strictly = (type: { readonly group: string }) =>
    type.group === group ? ({ fieldValidation: 'Strict' } as const) : {}
  return (api) =>
    decorated(api, {
      create: (type, object, options) => api.create(type, object, { ...options, ...strictly(type) }),
      update: (type, object, options) => api.update(type, object, { ...options, ...strictly(type) }),
      patch: (type, key, patch, options) => api.patch(type, key, patch, { ...options, ...strictly(type) }),
    })
}
