import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { EmbeddedApi } from './embedded-api.ts'
import { foregroundFinalizer, type OwnedObject, OwnershipGraph, orphanFinalizer } from './ownership-graph.ts'
import type { ResourceCatalogue } from './resource-definition.ts'
import type { ObjectStore } from './store/object-store.ts'
import { storedResources } from './stored-resources.ts'

export interface GarbageCollectorPorts {
  readonly api: EmbeddedApi
  readonly catalogue: ResourceCatalogue
  readonly clock: Clock
  readonly observe: ObjectStore['observe']
}

/**
 * Deletes what has lost all its owners, and carries out foreground and orphaning deletion.
 *
 * Guarantees: nothing is deleted unless a live read of each of its owners found that owner gone, going in the foreground,
 * or different from the one referred to; the delete holds only for the object that was read.
 * Fails closed: an owner of a kind that is not served, or that cannot be read, keeps its dependents.
 */
export function startGarbageCollector(ports: GarbageCollectorPorts): { stop(): void } {
  const collector = new GarbageCollector(ports)
  collector.followCatalogue()
  return { stop: () => collector.stop() }
}

const firstRetryMs = 10
const longestRetryMs = 10_000
const catalogueSettlesMs = 1000

class GarbageCollector {
  readonly #ports: GarbageCollectorPorts
  readonly #graph = new OwnershipGraph()
  readonly #monitors = new Map<string, { readonly type: ResourceType; readonly stop: () => void }>()
  readonly #queue = new Set<string>()
  readonly #failures = new Map<string, number>()
  /** Objects that refer to an owner of an unknown kind: checked again when the kinds change. */
  readonly #unresolved = new Set<string>()
  readonly #timers = new Set<() => void>()
  #types: ReadonlyMap<string, ResourceType> = new Map()
  #revision: number | undefined
  #isAwake = false
  #isStopped = false

  constructor(ports: GarbageCollectorPorts) {
    this.#ports = ports
  }

  stop(): void {
    this.#isStopped = true
    for (const { stop } of this.#monitors.values()) stop()
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  /** Starts to watch kinds that are new, and leaves those that are no longer served. */
  followCatalogue(): void {
    const { catalogue } = this.#ports
    if (this.#isStopped || this.#revision === catalogue.revision) return
    this.#revision = catalogue.revision
    this.#types = new Map(catalogue.all().map(({ type }) => [kindKey(type), type]))
    const served = new Map([...storedResources(catalogue)].filter(([, type]) => !isEvents(type)))
    for (const [key, monitor] of this.#monitors) {
      if (served.has(key)) continue
      monitor.stop()
      this.#monitors.delete(key)
      const { group, plural } = monitor.type
      for (const uid of this.#graph.uidsOf((type) => type.group === group && type.plural === plural)) {
        this.#enqueue(this.#graph.forget(uid))
      }
    }
    for (const [key, type] of served) if (!this.#monitors.has(key)) this.#watch(key, type)
    this.#enqueue([...this.#unresolved])
    this.#unresolved.clear()
  }

  #watch(key: string, type: ResourceType): void {
    const isDefinitions =
      type.group === customResourceDefinitions.group && type.plural === customResourceDefinitions.plural
    // A definition is served only some time after it was written.
    const noteKinds = () => {
      if (!isDefinitions) return
      this.#after(0, () => this.followCatalogue())
      this.#after(catalogueSettlesMs, () => this.followCatalogue())
    }
    const stop = this.#ports.observe(key, ({ type: change, object }) => {
      const isGone = change === 'DELETED'
      this.#enqueue(isGone ? this.#graph.forget(object.metadata.uid ?? '') : this.#graph.observe(type, object))
      noteKinds()
    })
    this.#monitors.set(key, { type, stop })
  }

  #enqueue(uids: readonly string[]): void {
    if (uids.length === 0) return
    for (const uid of uids) this.#queue.add(uid)
    this.#wake()
  }

  /** Work starts on a timer: whoever writes has written to the end before anything is decided. */
  #wake(): void {
    if (this.#isAwake || this.#isStopped || this.#queue.size === 0) return
    this.#isAwake = true
    this.#after(0, () => void this.#workOff())
  }

  async #workOff(): Promise<void> {
    try {
      while (!this.#isStopped) {
        const [uid] = this.#queue
        if (uid === undefined) break
        this.#queue.delete(uid)
        await this.#reconcile(uid)
      }
    } finally {
      this.#isAwake = false
      this.#wake()
    }
  }

  async #reconcile(uid: string): Promise<void> {
    const owned = this.#graph.get(uid)
    if (owned === undefined || !owned.isPresent || owned.type === undefined) return
    try {
      await this.#settle(owned, owned.type)
      this.#failures.delete(uid)
    } catch {
      const failures = (this.#failures.get(uid) ?? 0) + 1
      this.#failures.set(uid, failures)
      this.#after(Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs), () => this.#enqueue([uid]))
    }
  }

  async #settle(owned: OwnedObject, type: ResourceType): Promise<void> {
    switch (owned.stage) {
      case 'going':
        return
      case 'releasing-dependents':
        for (const dependent of this.#graph.dependentsOf(owned.uid)) {
          await this.#removeReferences(dependent, (reference) => reference.uid === owned.uid)
        }
        return this.#removeFinalizer(owned, type, orphanFinalizer)
      case 'awaiting-dependents':
        if (this.#graph.hasBlockers(owned.uid)) return
        return this.#removeFinalizer(owned, type, foregroundFinalizer)
      case 'kept':
        return this.#collect(owned, type)
    }
  }

  async #collect(owned: OwnedObject, type: ResourceType): Promise<void> {
    const latest = await this.#read(owned, type)
    if (latest === undefined) return this.#enqueue(this.#graph.forget(owned.uid))
    const references = latest.metadata.ownerReferences ?? []
    if (references.length === 0) return
    const verdicts = new Map<OwnerReference, OwnerVerdict>()
    for (const reference of references) verdicts.set(reference, await this.#judge(owned, reference))
    const all = [...verdicts.values()]
    if (all.includes('unresolved')) {
      this.#unresolved.add(owned.uid)
      return
    }
    if (all.includes('impossible')) return
    if (all.includes('solid')) {
      if (all.some((verdict) => verdict !== 'solid')) {
        const solid = new Set(
          references.filter((reference) => verdicts.get(reference) === 'solid').map(({ uid }) => uid),
        )
        await this.#removeReferences(owned, (reference) => !solid.has(reference.uid))
      }
      return
    }
    await this.#delete(owned, latest, all.includes('awaiting-dependents'))
  }

  async #judge(owned: OwnedObject, reference: OwnerReference): Promise<OwnerVerdict> {
    const type = this.#types.get(`${reference.apiVersion}/${reference.kind}`)
    if (type === undefined) return 'unresolved'
    const { namespace } = owned.key
    if (type.namespaced && namespace === undefined) return 'impossible'
    const key = { ...(type.namespaced && namespace !== undefined ? { namespace } : {}), name: reference.name }
    try {
      const { metadata } = await this.#ports.api.get(type, key)
      if (metadata.uid !== reference.uid) return 'dangling'
      const isWaiting = metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(foregroundFinalizer)
      return isWaiting === true ? 'awaiting-dependents' : 'solid'
    } catch (error) {
      if (hasReason(error, 'NotFound')) return 'dangling'
      throw error
    }
  }

  async #delete(owned: OwnedObject, latest: KubeObject, isOwnerWaiting: boolean): Promise<void> {
    const dependents = this.#graph.dependentsOf(owned.uid)
    const inForeground = isOwnerWaiting && dependents.length > 0
    let { resourceVersion } = latest.metadata
    if (inForeground && dependents.some(({ stage }) => stage === 'awaiting-dependents')) {
      // Owner and dependent wait for each other: a circle. It opens when this one no longer blocks its owners.
      const unblocked = (latest.metadata.ownerReferences ?? []).map((each) => ({ ...each, blockOwnerDeletion: false }))
      resourceVersion = (await this.#writeMetadata(owned, latest, { ownerReferences: unblocked })).metadata
        .resourceVersion
    }
    const finalizers = latest.metadata.finalizers ?? []
    const kept = finalizers.includes(orphanFinalizer)
      ? 'Orphan'
      : finalizers.includes(foregroundFinalizer)
        ? 'Foreground'
        : 'Background'
    await this.#ports.api
      .delete(owned.type as ResourceType, owned.key, {
        propagationPolicy: inForeground ? 'Foreground' : kept,
        preconditions: { uid: owned.uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
      })
      .catch((error: unknown) => {
        if (!hasReason(error, 'NotFound')) throw error
      })
  }

  async #removeReferences(owned: OwnedObject, isRemoved: (reference: OwnerReference) => boolean): Promise<void> {
    if (owned.type === undefined) return
    const latest = await this.#read(owned, owned.type)
    const references = latest?.metadata.ownerReferences ?? []
    const left = references.filter((reference) => !isRemoved(reference))
    if (latest === undefined || left.length === references.length) return
    await this.#writeMetadata(owned, latest, { ownerReferences: left })
  }

  async #removeFinalizer(owned: OwnedObject, type: ResourceType, finalizer: string): Promise<void> {
    const latest = await this.#read(owned, type)
    const finalizers = latest?.metadata.finalizers ?? []
    if (latest === undefined || !finalizers.includes(finalizer)) return
    await this.#writeMetadata(owned, latest, { finalizers: finalizers.filter((each) => each !== finalizer) })
  }

  /** The object itself, not another one that took its name. */
  async #read(owned: OwnedObject, type: ResourceType): Promise<KubeObject | undefined> {
    try {
      const latest = await this.#ports.api.get(type, owned.key)
      return latest.metadata.uid === owned.uid ? latest : undefined
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  #writeMetadata(owned: OwnedObject, latest: KubeObject, fields: object): Promise<KubeObject> {
    const { resourceVersion } = latest.metadata
    const metadata = { uid: owned.uid, ...(resourceVersion === undefined ? {} : { resourceVersion }), ...fields }
    const body = { metadata: metadata as JsonObject }
    return this.#ports.api.patch(owned.type as ResourceType, owned.key, { type: 'merge', body })
  }

  #after(delayMs: number, callback: () => void): void {
    if (this.#isStopped) return
    const cancel = this.#ports.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      callback()
    })
    this.#timers.add(cancel)
  }
}

type OwnerVerdict = 'solid' | 'dangling' | 'awaiting-dependents' | 'unresolved' | 'impossible'

/** Events are many, own nothing, and expire by themselves. */
function isEvents({ group, plural }: ResourceType): boolean {
  return plural === 'events' && (group === '' || group === 'events.k8s.io')
}

function kindKey({ group, version, kind }: ResourceType): string {
  return group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`
}
