import type { KubeApi } from './kube-api.ts'

export interface IntendedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deleteCollection' | 'createSubresource'
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

/** The same API, but every write is only checked by the server, never stored, and passed to `onWrite` first. */
export function dryRunApi(api: KubeApi, onWrite: (write: IntendedWrite) => void): KubeApi {
  return {
    get: (type, key, options) => api.get(type, key, options),
    list: (type, query) => api.list(type, query),
    watch: (type, query) => api.watch(type, query),
    create(type, object, options) {
      onWrite({ verb: 'create', resource: type.plural, ...placeOf(object.metadata) })
      return api.create(type, object, { ...options, dryRun: true })
    },
    createSubresource(type, key, subresource, body, options) {
      onWrite({ verb: 'createSubresource', resource: type.plural, ...key, subresource })
      return api.createSubresource(type, key, subresource, body, { ...options, dryRun: true })
    },
    update(type, object, options) {
      onWrite({ verb: 'update', resource: type.plural, ...placeOf(object.metadata), ...subresourceOf(options) })
      return api.update(type, object, { ...options, dryRun: true })
    },
    patch(type, key, patch, options) {
      onWrite({ verb: 'patch', resource: type.plural, ...key, ...subresourceOf(options) })
      return api.patch(type, key, patch, { ...options, dryRun: true })
    },
    delete(type, key, options) {
      onWrite({ verb: 'delete', resource: type.plural, ...key })
      return api.delete(type, key, { ...options, dryRun: true })
    },
    deleteCollection(type, query, options) {
      onWrite({
        verb: 'deleteCollection',
        resource: type.plural,
        ...(query?.namespace && { namespace: query.namespace }),
      })
      return api.deleteCollection(type, query, { ...options, dryRun: true })
    },
  }
}

function placeOf({ namespace, name }: { namespace?: string; name: string }) {
  return namespace === undefined ? { name } : { namespace, name }
}

function subresourceOf(options: { readonly subresource?: string } | undefined) {
  return options?.subresource === undefined ? {} : { subresource: options.subresource }
}
