import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Scale } from '@cofferdam/kubernetes/api/apps.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeList, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText, type ObjectKey, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type {
  DeleteOptions,
  ListQuery,
  Patch,
  SubresourceOptions,
  WatchEvent,
  WatchQuery,
  WriteOptions,
} from '@cofferdam/kubernetes/client/kube-api.ts'
import { accessRefused } from './access/access-refused.ts'
import type { AccessAttributes } from './access/policy-rule.ts'
import type { Admission } from './admission/admission.ts'
import type { AnswerNotes, EmbeddedApi } from './embedded-api.ts'
import type { EvictionRequest } from './eviction.ts'
import { methodNotAllowed, notFound, resourceNotServed } from './registry/api-errors.ts'
import { bindPod } from './registry/bind-pod.ts'
import { createObject } from './registry/create-object.ts'
import { deleteObject } from './registry/delete-object.ts'
import { listObjects } from './registry/list-objects.ts'
import { patchObject } from './registry/patch-object.ts'
import { bucketOf, type Registry, type WriteRequest } from './registry/registry.ts'
import { patchScale, readScale, updateScale } from './registry/scale-subresource.ts'
import { type SelectionQuery, selectedName } from './registry/selection.ts'
import { asServed } from './registry/served-version.ts'
import { requestToken } from './registry/service-account-token.ts'
import { updateObject } from './registry/update-object.ts'
import { watchObjects } from './registry/watch-objects.ts'
import type { ResourceDefinition } from './resource-definition.ts'
import type { UserInfo } from './user-info.ts'

export interface InProcessApiPorts {
  readonly registry: Registry
  readonly user: UserInfo
  readonly admission: Admission
  readonly isAllowed: (user: UserInfo, attributes: AccessAttributes) => boolean
  readonly evict: (request: EvictionRequest) => Promise<JsonObject>
}

type Target = Omit<AccessAttributes, 'verb' | 'group' | 'resource'>

/**
 * The API as one user sees it, without a wire in between.
 *
 * Guarantees: a call that no webhook is asked about runs to its end before the caller goes on, so that nothing comes
 * between its read and its write.
 */
export class InProcessApi implements EmbeddedApi {
  readonly #ports: InProcessApiPorts
  readonly #registry: Registry
  readonly #mayDoAll: boolean

  constructor(ports: InProcessApiPorts) {
    this.#ports = ports
    this.#registry = ports.registry
    this.#mayDoAll = ports.user.groups.includes('system:masters')
  }

  async get<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    { subresource }: { readonly subresource?: string } = {},
  ): Promise<T> {
    const definition = this.#open(type, 'get', { ...key, ...subresourceOf(subresource) })
    if (subresource === 'scale') return readScale(this.#registry, definition, key) as KubeObject as T
    if (subresource !== undefined && !isPartOf(definition, subresource)) throw resourceNotServed()
    const stored = bucketOf(this.#registry, definition).get(keyText(key))
    if (stored === undefined) throw notFound(definition.type, key.name)
    return asServed(definition, stored) as T
  }

  async list<T extends KubeObject>(type: ResourceType<T>, query: ListQuery = {}): Promise<KubeList<T>> {
    return listObjects(this.#registry, this.#open(type, 'list', targetOf(query)), query) as KubeList<T>
  }

  watch<T extends KubeObject>(type: ResourceType<T>, query: WatchQuery = {}): AsyncIterable<WatchEvent<T>> {
    const open = () => watchObjects(this.#registry, this.#open(type, 'watch', targetOf(query)), query)
    try {
      // Opened at once, not at the first read: what happens from now on is not missed.
      return open() as AsyncIterable<WatchEvent<KubeObject>> as AsyncIterable<WatchEvent<T>>
    } catch (error) {
      if (error instanceof ApiError) return refusedWatch(error)
      throw error
    }
  }

  async create<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    options: WriteOptions & AnswerNotes = {},
  ): Promise<T> {
    const definition = this.#open(type, 'create', namespaceOf(object.metadata ?? {}))
    const { strategy } = definition
    if (strategy.answer !== undefined) {
      return (await strategy.answer(object as KubeObject as KubeObject & JsonObject, this.#ports.user)) as unknown as T
    }
    return (await createObject(this.#registry, this.#write(definition, options), object)) as T
  }

  async createSubresource(
    type: ResourceType,
    key: ObjectKey,
    subresource: string,
    body: JsonObject,
    options: WriteOptions & AnswerNotes = {},
  ): Promise<JsonObject> {
    const definition = this.#open(type, 'create', { ...key, subresource })
    if (!definition.postSubresources.includes(subresource)) throw resourceNotServed()
    const request = this.#write(definition, options)
    switch (subresource) {
      case 'eviction': {
        const { onWarning } = options
        const { user } = this.#ports
        const { dryRun } = request
        return this.#ports.evict({ key, body, user, dryRun, ...(onWarning === undefined ? {} : { onWarning }) })
      }
      case 'binding':
        return bindPod(this.#registry, request, key, body)
      case 'token':
        return requestToken(this.#registry, request, key, body)
      default:
        throw methodNotAllowed(definition.type, 'create')
    }
  }

  async update<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    options: SubresourceOptions & AnswerNotes = {},
  ): Promise<T> {
    const { subresource } = options
    const { name, namespace } = object.metadata ?? {}
    const definition = this.#open(type, 'update', {
      ...namespaceOf({ namespace }),
      name,
      ...subresourceOf(subresource),
    })
    const request = this.#write(definition, options)
    if (subresource === 'scale') {
      return (await updateScale(this.#registry, request, object as KubeObject as Scale)) as KubeObject as T
    }
    if (subresource !== undefined && !isPartOf(definition, subresource)) throw resourceNotServed()
    return (await updateObject(this.#registry, request, object)) as T
  }

  async patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options: SubresourceOptions & AnswerNotes = {},
  ): Promise<T> {
    const { subresource } = options
    const definition = this.#open(type, 'patch', { ...key, ...subresourceOf(subresource) })
    const isAnonymousApply = patch.type === 'apply' && !options.fieldManager
    const request = { ...this.#write(definition, options), ...(isAnonymousApply ? { fieldManager: '' } : {}) }
    if (subresource === 'scale') {
      return (await patchScale(this.#registry, request, key, patch)) as KubeObject as T
    }
    if (subresource !== undefined && !isPartOf(definition, subresource)) throw resourceNotServed()
    return (await patchObject(this.#registry, request, key, patch)) as T
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options: DeleteOptions & Pick<AnswerNotes, 'onGone'> = {},
  ): Promise<T> {
    const definition = this.#open(type, 'delete', key)
    return (await deleteObject(this.#registry, this.#write(definition, options), key, options)) as T
  }

  async deleteCollection(
    type: ResourceType,
    query: ListQuery = {},
    { onListed, ...options }: DeleteOptions & { readonly onListed?: (list: KubeList) => void } = {},
  ): Promise<void> {
    const definition = this.#open(type, 'deletecollection', targetOf(query))
    const request = this.#write(definition, options)
    const list = listObjects(this.#registry, definition, query)
    onListed?.(list)
    for (const object of list.items) {
      await deleteObject(this.#registry, request, keyOf(object), options).catch(ignoreGone)
    }
  }

  /** The definition of a served resource, if the user may do this with it. */
  #open(type: ResourceType, verb: string, where: Target): ResourceDefinition {
    const { group, version, plural: resource } = type
    const definition = this.#registry.catalogue.find(group, version, resource)
    const { user, isAllowed } = this.#ports
    const target = type.plural === 'namespaces' && group === '' ? inItself(where) : where
    const asked = { verb, group, resource, ...target }
    if (!this.#mayDoAll && !isAllowed(user, asked)) throw accessRefused(user, asked)
    if (definition === undefined) throw resourceNotServed()
    if (definition.strategy.answer !== undefined && verb !== 'create') throw methodNotAllowed(type, verb)
    return definition
  }

  #write(definition: ResourceDefinition, options: SubresourceOptions & AnswerNotes): WriteRequest {
    const { user, admission } = this.#ports
    const {
      dryRun = false,
      fieldManager,
      fieldValidation = 'Warn',
      subresource,
      onWarning,
      onCreated,
      onGone,
    } = options
    return {
      definition,
      user,
      admission,
      dryRun,
      fieldManager: fieldManager || user.username,
      fieldValidation,
      ...subresourceOf(subresource),
      ...(onWarning === undefined ? {} : { onWarning }),
      ...(onCreated === undefined ? {} : { onCreated }),
      ...(onGone === undefined ? {} : { onGone }),
    }
  }
}

/** A namespace counts as lying in itself: a role in it may allow to read it. */
function inItself(target: Target): Target {
  return target.name === undefined ? target : { ...target, namespace: target.name }
}

/** Subresources that show the object itself, or a part of it. */
function isPartOf(definition: ResourceDefinition, subresource: string): boolean {
  return (
    (subresource === 'status' && definition.hasStatus) ||
    (subresource === 'finalize' && definition.storageKey === 'namespaces')
  )
}

function subresourceOf(subresource: string | undefined): { readonly subresource?: string } {
  return subresource === undefined ? {} : { subresource }
}

function namespaceOf({ namespace }: { readonly namespace?: string | undefined }): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace }
}

/** Who may read one object by its name may also select it by that name. */
function targetOf({ namespace, fieldSelector }: SelectionQuery): Target {
  const name = fieldSelector && selectedName(fieldSelector)
  return { ...namespaceOf({ namespace }), ...(name && { name }) }
}

async function* refusedWatch(error: ApiError): AsyncGenerator<never> {
  yield* []
  throw error
}

function ignoreGone(error: unknown): void {
  if (!hasReason(error, 'NotFound')) throw error
}
