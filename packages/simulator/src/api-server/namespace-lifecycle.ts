import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Namespace } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces, pods, serviceAccounts } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { EmbeddedApi } from './embedded-api.ts'
import { type NamespaceContent, namespaceConditions } from './namespace-conditions.ts'
import type { ResourceCatalogue } from './resource-definition.ts'
import type { ObjectStore } from './store/object-store.ts'
import { storedResources } from './stored-resources.ts'

export interface NamespaceLifecyclePorts {
  readonly api: EmbeddedApi
  readonly catalogue: ResourceCatalogue
  readonly clock: Clock
  readonly observe: ObjectStore['observe']
}

const ownFinalizer = 'kubernetes'
const firstRetryMs = 100
const longestRetryMs = 5000

/**
 * Empties namespaces that were deleted and then lets them go, and gives every other one its `default` ServiceAccount.
 *
 * Guarantees: a namespace keeps its `kubernetes` finalizer until a list of every kind found nothing left in it.
 */
export function startNamespaceLifecycle(ports: NamespaceLifecyclePorts): { stop(): void } {
  const lifecycle = new NamespaceLifecycle(ports)
  lifecycle.start()
  return { stop: () => lifecycle.stop() }
}

class NamespaceLifecycle {
  readonly #ports: NamespaceLifecyclePorts
  readonly #abort = new AbortController()
  readonly #queue = new Set<string>()
  readonly #retries = new Map<string, number>()
  readonly #timers = new Set<() => void>()
  #isAwake = false

  constructor(ports: NamespaceLifecyclePorts) {
    this.#ports = ports
  }

  start(): void {
    const { observe } = this.#ports
    const endings = [
      observe('namespaces', ({ type, object: { metadata } }) => {
        if (type === 'DELETED') this.#retries.delete(metadata.name)
        else this.#enqueue(metadata.name)
      }),
      observe('serviceaccounts', ({ type, object: { metadata } }) => {
        if (type === 'DELETED' && metadata.name === 'default') this.#enqueue(metadata.namespace)
      }),
    ]
    this.#abort.signal.addEventListener('abort', () => {
      for (const end of endings) end()
    })
  }

  stop(): void {
    this.#abort.abort()
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  #enqueue(name: string | undefined): void {
    if (name === undefined || this.#abort.signal.aborted) return
    this.#queue.add(name)
    if (this.#isAwake) return
    this.#isAwake = true
    this.#after(0, () => void this.#workOff())
  }

  async #workOff(): Promise<void> {
    for (const name of this.#queue) {
      if (this.#abort.signal.aborted) return
      this.#queue.delete(name)
      const isSettled = await this.#settle(name).catch(() => false)
      if (isSettled) this.#retries.delete(name)
      else this.#retryLater(name)
    }
    this.#isAwake = false
  }

  #retryLater(name: string): void {
    const retries = this.#retries.get(name) ?? 0
    this.#retries.set(name, retries + 1)
    this.#after(Math.min(firstRetryMs * 2 ** retries, longestRetryMs), () => this.#enqueue(name))
  }

  /** Brings one namespace as far as it can go now; false when it must be reconciled again. */
  async #settle(name: string): Promise<boolean> {
    const namespace = await this.#ports.api.get(namespaces, { name }).catch(absent)
    if (namespace === undefined) return true
    if (namespace.metadata.deletionTimestamp === undefined) {
      await this.#addDefaultAccount(name)
      return true
    }
    if (!(namespace.spec?.finalizers ?? []).includes(ownFinalizer)) return true
    const terminating = await this.#writeStatus(namespace, { ...namespace.status, phase: 'Terminating' })
    const content = await this.#deleteContent(name)
    const conditions = namespaceConditions(terminating.status?.conditions ?? [], content, this.#ports.clock)
    const reported = await this.#writeStatus(terminating, { ...terminating.status, conditions })
    if (content.remaining.size > 0 || content.failures.length > 0) return false
    await this.#finalize(reported)
    return true
  }

  async #addDefaultAccount(namespace: string): Promise<void> {
    const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } }
    const existing = await this.#ports.api.get(serviceAccounts, { namespace, name: 'default' }).catch(absent)
    if (existing !== undefined) return
    await this.#ports.api.create(serviceAccounts, account).catch((error: unknown) => {
      // Somebody else made it, or the namespace began to go meanwhile.
      if (!hasReason(error, 'AlreadyExists', 'Forbidden', 'NotFound')) throw error
    })
  }

  /** Pods go first, so that what they use is there until they have ended. */
  async #deleteContent(namespace: string): Promise<NamespaceContent> {
    const content: NamespaceContent = { remaining: new Map(), finalizers: new Map(), failures: [] }
    await this.#deleteAll(pods, namespace, content)
    if (content.remaining.size > 0) return content
    for (const type of storedResources(this.#ports.catalogue).values()) {
      const isPods = type.group === pods.group && type.plural === pods.plural
      if (type.namespaced && !isPods) await this.#deleteAll(type, namespace, content)
    }
    return content
  }

  async #deleteAll(type: ResourceType, namespace: string, content: NamespaceContent): Promise<void> {
    const { api } = this.#ports
    try {
      const { items } = await api.list(type, { namespace, limit: 1 })
      if (items.length === 0) return
      await api.deleteCollection(type, { namespace }, { propagationPolicy: 'Background' })
      const left = (await api.list(type, { namespace })).items
      if (left.length > 0) content.remaining.set(`${type.plural}.${type.group}`, left.length)
      for (const finalizer of left.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
        content.finalizers.set(finalizer, (content.finalizers.get(finalizer) ?? 0) + 1)
      }
    } catch (error) {
      // A kind that stopped being served has no objects.
      if (hasReason(error, 'NotFound', 'MethodNotAllowed')) return
      content.failures.push(error instanceof Error ? error.message : String(error))
    }
  }

  async #writeStatus(namespace: Namespace, status: NonNullable<Namespace['status']>): Promise<Namespace> {
    if (status.phase === namespace.status?.phase && status.conditions === namespace.status?.conditions) return namespace
    return this.#ports.api.update(namespaces, { ...namespace, status }, { subresource: 'status' })
  }

  async #finalize(namespace: Namespace): Promise<void> {
    const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== ownFinalizer)
    await this.#ports.api.update(
      namespaces,
      { ...namespace, spec: { ...namespace.spec, finalizers } },
      { subresource: 'finalize' },
    )
  }

  #after(delayMs: number, callback: () => void): void {
    if (this.#abort.signal.aborted) return
    const cancel = this.#ports.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      callback()
    })
    this.#timers.add(cancel)
  }
}

function absent(error: unknown): undefined {
  if (hasReason(error, 'NotFound')) return undefined
  throw error
}
