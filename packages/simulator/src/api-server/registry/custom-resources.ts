import type { Condition, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { definitionsOf } from '../crd/custom-resource-definitions.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import type { Bucket } from '../store/bucket.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { methodNotAllowed } from './api-errors.ts'
import type { ResourceRegistry } from './resource-registry.ts'

interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string; readonly [name: string]: unknown }
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[]
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly acceptedNames?: unknown
    readonly storedVersions?: readonly string[]
  }
}

const crdKey = 'apiextensions.k8s.io/customresourcedefinitions'
const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/**
 * Makes CustomResourceDefinitions take effect.
 *
 * Guarantees: a definition outlives its instances; it goes only once the last of them has gone.
 */
export class CustomResources {
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #catalogue: ResourceRegistry
  readonly #deleteInstances: (definition: ResourceDefinition) => void
  /** Definitions that terminate, by the storage key of their instances. */
  readonly #leaving = new Map<string, string>()

  constructor(ports: {
    store: ObjectStore
    clock: Clock
    catalogue: ResourceRegistry
    /** Asks for all instances to go; finalizers may hold some. */
    deleteInstances: (definition: ResourceDefinition) => void
  }) {
    this.#store = ports.store
    this.#clock = ports.clock
    this.#catalogue = ports.catalogue
    this.#deleteInstances = ports.deleteInstances
  }

  /** A definition as it is to be stored: with what the server finds out about its names and versions. */
  completed(definition: ResourceDefinition, next: KubeObject): KubeObject {
    if (definition.storageKey !== crdKey) return next
    return this.#withAcceptance(next as CustomResourceDefinition)
  }

  /** A definition that is to be deleted waits for its instances. */
  leaving(definition: ResourceDefinition, stored: KubeObject): KubeObject {
    const { finalizers = [], deletionTimestamp } = stored.metadata
    if (definition.storageKey !== crdKey || deletionTimestamp !== undefined) return stored
    if (this.#catalogue.definedBy(stored.metadata.name).length === 0) return stored
    const crd = stored as CustomResourceDefinition
    return {
      ...this.#withCondition(crd, {
        type: 'Terminating',
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      }),
      metadata: { ...crd.metadata, finalizers: [...new Set([...finalizers, cleanupFinalizer])] },
    }
  }

  requireOpen({ storageKey, type }: ResourceDefinition): void {
    if (this.#leaving.has(storageKey)) {
      throw methodNotAllowed(type, 'create not allowed while custom resource definition is terminating: create')
    }
  }

  stored(definition: ResourceDefinition, object: KubeObject | undefined, name: string): void {
    if (definition.origin === 'custom') this.#releaseIfEmpty(definition)
    else if (definition.storageKey === crdKey) this.#definitionStored(object as CustomResourceDefinition, name)
  }

  #definitionStored(crd: CustomResourceDefinition | undefined, name: string): void {
    if (crd === undefined) {
      this.#withdraw(name)
      return
    }
    if (conditionStatus(crd, 'Established') !== 'True') return
    this.#catalogue.define(crd, definitionsOf(crd))
    const [first] = this.#catalogue.definedBy(name)
    if (first === undefined || crd.metadata.deletionTimestamp === undefined || this.#leaving.has(first.storageKey))
      return
    this.#leaving.set(first.storageKey, name)
    if (this.#instances(first).size > 0) this.#deleteInstances(first)
    this.#releaseIfEmpty(first)
  }

  #withdraw(name: string): void {
    const [first] = this.#catalogue.definedBy(name)
    this.#catalogue.undefine(name)
    if (first === undefined) return
    this.#leaving.delete(first.storageKey)
    this.#store.drop(first.storageKey)
  }

  /** Lets a definition go that waited for its instances. */
  #releaseIfEmpty(definition: ResourceDefinition): void {
    const name = this.#leaving.get(definition.storageKey)
    if (name === undefined || this.#instances(definition).size > 0) return
    const bucket = this.#store.bucket(crdKey)
    const crd = bucket.get(name)
    if (crd?.metadata.finalizers?.includes(cleanupFinalizer) !== true) return
    const finalizers = crd.metadata.finalizers.filter((finalizer) => finalizer !== cleanupFinalizer)
    if (finalizers.length > 0) {
      bucket.put(name, { ...crd, metadata: { ...crd.metadata, finalizers } }, crd)
      return
    }
    bucket.remove(name, crd)
    this.#withdraw(name)
  }

  #instances({ storageKey }: ResourceDefinition): Bucket {
    return this.#store.bucket(storageKey)
  }

  #withAcceptance(crd: CustomResourceDefinition): CustomResourceDefinition {
    const { group, names, versions } = crd.spec
    const storage = versions.filter((version) => version.storage).map((version) => version.name)
    const storedVersions = [...new Set([...(crd.status?.storedVersions ?? []), ...storage])]
    if (this.#catalogue.isTaken(group, names.plural, crd.metadata.name)) {
      const message = `${JSON.stringify(names.plural)} is already in use`
      const refused = this.#withCondition(crd, {
        type: 'NamesAccepted',
        status: 'False',
        reason: 'PluralConflict',
        message,
      })
      const hint = { reason: 'NotAccepted', message: 'not all names are accepted' }
      return this.#withCondition(refused, { type: 'Established', status: 'False', ...hint })
    }
    const accepted = { reason: 'NoConflicts', message: 'no conflicts found' }
    const established = { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
    const named = this.#withCondition(crd, { type: 'NamesAccepted', status: 'True', ...accepted })
    const next = this.#withCondition(named, { type: 'Established', status: 'True', ...established })
    return { ...next, status: { ...next.status, acceptedNames: names, storedVersions } }
  }

  #withCondition(crd: CustomResourceDefinition, condition: Condition): CustomResourceDefinition {
    const conditions = crd.status?.conditions ?? []
    const before = conditions.find(({ type }) => type === condition.type)
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : timestamp(this.#clock)
    const next = { ...condition, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) }
    const others =
      before === undefined ? [...conditions, next] : conditions.map((each) => (each === before ? next : each))
    return { ...crd, status: { ...crd.status, conditions: others } }
  }
}

function conditionStatus(crd: CustomResourceDefinition, type: string): string | undefined {
  return crd.status?.conditions?.find((condition) => condition.type === type)?.status
}
