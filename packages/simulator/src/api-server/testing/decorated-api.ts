import type { EmbeddedApi } from '../embedded-api.ts'

/** The API with some of its calls replaced. */
export function decorated(api: EmbeddedApi, replaced: Partial<EmbeddedApi>): EmbeddedApi {
  return {
    get: api.get.bind(api),
    list: api.list.bind(api),
    watch: api.watch.bind(api),
    create: api.create.bind(api),
    createSubresource: api.createSubresource.bind(api),
    update: api.update.bind(api),
    patch: api.patch.bind(api),
    delete: api.delete.bind(api),
    deleteCollection: api.deleteCollection.bind(api),
    ...replaced,
  }
}
