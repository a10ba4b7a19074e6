import type { KubeApi } from '../client/kube-api.ts'
import { CofferdamError } from '../errors.ts'

/**
 * The same API for whoever leads: nothing is written once the lead may have passed to another.
 *
 * Guarantees: a process that stood still, and goes on with what it decided long ago, does not write it beside what the new leader
 * has begun.
 * Assumes: a write that is sent already is not held back; what must never happen twice is a compare-and-swap besides.
 */
export function leadingApi(api: KubeApi, mayAct: () => boolean): KubeApi {
  const whileLeading = <T>(write: () => Promise<T>): Promise<T> =>
    mayAct()
      ? write()
      : Promise.reject(new CofferdamError('LEAD_LOST', 'nothing is written: the lease was not renewed in time'))
  return {
    get: (type, key, options) => api.get(type, key, options),
    list: (type, query) => api.list(type, query),
    watch: (type, query) => api.watch(type, query),
    create: (...given) => whileLeading(() => api.create(...given)),
    createSubresource: (...given) => whileLeading(() => api.createSubresource(...given)),
    update: (...given) => whileLeading(() => api.update(...given)),
    patch: (...given) => whileLeading(() => api.patch(...given)),
    delete: (...given) => whileLeading(() => api.delete(...given)),
    deleteCollection: (...given) => whileLeading(() => api.deleteCollection(...given)),
  }
}
