import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { alreadyExists, badRequest, forbidden, nameAtAdmission, notFound } from './api-errors.ts'
import { decodeObject } from './decode-object.ts'
import { prepareCreate, trackWrite } from './prepare-write.ts'
import { admissionOf, admit, bucketOf, type Registry, type WriteRequest } from './registry.ts'
import { asServed, asStored } from './served-version.ts'

/** A generated name may be taken already; the real server tries this often before it gives up. */
const generatedNames = 8
const longestGenerateName = 58

/** @param keepsDeletion Who creates by PUT may create an object that is already deleted; POST drops that. */
export async function createObject(
  registry: Registry,
  request: WriteRequest,
  sent: KubeObject,
  { keepsDeletion = false }: { readonly keepsDeletion?: boolean } = {},
): Promise<KubeObject> {
  const read = decodeObject(request, sent)
  const decoded = keepsDeletion ? read : withoutDeletion(read)
  const hasVersion = /^0*[1-9]\d*$/.test(decoded.metadata.resourceVersion ?? '')
  for (let attempt = 1; ; attempt += 1) {
    const named = withName(registry, decoded)
    try {
      return await insertObject(registry, request, trackNew(registry, request, named), { hasVersion })
    } catch (error) {
      const mayTryAgain = named !== decoded && attempt < generatedNames
      if (!mayTryAgain || !isTaken(registry, request, named)) throw error
    }
  }
}

/** Stores a whole new object, unless its name is taken or its namespace is not open to it. */
export async function insertObject(
  registry: Registry,
  request: WriteRequest,
  sent: KubeObject,
  { hasVersion = false }: { readonly hasVersion?: boolean } = {},
): Promise<KubeObject> {
  const { definition } = request
  const object = definition.strategy.admit?.(sent, request.dryRun) ?? sent
  const key = keyOf(object)
  registry.customResources.requireOpen(definition)
  const asked = admissionOf(request, { operation: 'CREATE', key, object })
  if (asked !== undefined) await admit(request, asked)
  const bucket = bucketOf(registry, definition)
  const next = registry.customResources.completed(definition, asStored(definition, object))
  // In the real server this is found out by what stores the object, so late and as a fault of its own.
  if (hasVersion && !request.dryRun) {
    throw new ApiError('', 'resourceVersion should not be set on objects to be created', { code: 500 })
  }
  const taken = bucket.get(keyText(key))
  if (taken !== undefined)
    throw alreadyExists(definition.type, key.name, taken.metadata.deletionTimestamp !== undefined)
  if (request.dryRun) return deepFreeze(object)
  const stored = bucket.put(keyText(key), next, undefined) as KubeObject
  registry.customResources.stored(definition, stored, key.name)
  return asServed(definition, stored)
}

/** Assumes: decoded, and named if a name was to be generated. */
export function trackNew(registry: Registry, request: WriteRequest, decoded: KubeObject): KubeObject {
  requireOpenNamespace(registry, request, decoded.metadata)
  return trackWrite(registry, request, prepareCreate(registry, request, decoded), undefined)
}

/** Refuses what would be created in a namespace that is not there or terminating. */
export function requireOpenNamespace(registry: Registry, request: WriteRequest, metadata: ObjectMeta): void {
  const { type } = request.definition
  const { namespace } = metadata
  if (!type.namespaced) return
  if (namespace === undefined || namespace === '') {
    throw badRequest('an empty namespace may not be set during creation')
  }
  const home = registry.store.bucket('namespaces').get(namespace)
  if (home === undefined) throw notFound(namespaces, namespace)
  if (home.metadata.deletionTimestamp === undefined) return
  throw forbidden(
    type,
    nameAtAdmission(metadata),
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  )
}

function withoutDeletion(object: KubeObject): KubeObject {
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = object.metadata
  return { ...object, metadata }
}

function withName(registry: Registry, object: KubeObject): KubeObject {
  const { name, generateName } = object.metadata
  if (name || !generateName) return object
  const generated =
    generateName.slice(0, longestGenerateName) + randomSuffix(registry.random.stream(`names ${generateName}`))
  return { ...object, metadata: { ...object.metadata, name: generated } }
}

function isTaken(registry: Registry, { definition }: WriteRequest, object: KubeObject): boolean {
  return bucketOf(registry, definition).get(keyText(keyOf(object))) !== undefined
}
