import { setTimeout as pause } from 'node:timers/promises'
import { ApiError, hasReason } from '../../api/api-error.ts'
import type { ConfigMap, Namespace, Pod } from '../../api/core.ts'
import type { KubeObject } from '../../api/kube-object.ts'
import { keyOf, type ResourceType } from '../../api/resource-type.ts'
import { configMaps, namespaces, pods } from '../../api/resources.ts'
import type { KubeApi, WatchEvent, WatchQuery } from '../kube-api.ts'

/** What a contract suite runs against. */
export interface ContractSubject {
  readonly api: KubeApi
  close(): Promise<void>
  /** Forgets the past, so that a watch from an old version finds it expired. Left out where it cannot be brought about. */
  compact?(): void | Promise<void>
  /** Holds the disruption controller until the returned function is called. Left out where none is at work. */
  holdDisruptionController?(): Promise<() => void>
}

/** The subject with what the stories on it share. */
export interface ContractFixture {
  readonly api: KubeApi
  readonly subject: ContractSubject
  /** A namespace that nobody else uses; it is cleared away in the end. */
  namespace(labels?: Readonly<Record<string, string>>): Promise<string>
}

export class ContractPlay implements ContractFixture {
  #subject: ContractSubject | undefined
  readonly #namespaces: string[] = []

  get subject(): ContractSubject {
    if (this.#subject === undefined) throw new Error('the subject is not open')
    return this.#subject
  }

  get api(): KubeApi {
    return this.subject.api
  }

  async open(open: () => Promise<ContractSubject>): Promise<void> {
    this.#subject = await open()
  }

  async close(): Promise<void> {
    await Promise.all(this.#namespaces.map((namespace) => this.#clear(namespace)))
    await this.subject.close()
  }

  async namespace(labels: Readonly<Record<string, string>> = {}): Promise<string> {
    const wanted = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { generateName: 'contract-', labels },
    } as unknown as Namespace
    const { name } = (await this.api.create(namespaces, wanted)).metadata
    this.#namespaces.push(name)
    return name
  }

  /** Without a kubelet nobody would end the pods, and they would hold their namespace for ever. */
  async #clear(namespace: string): Promise<void> {
    const { items } = await this.api.list(pods, { namespace })
    for (const pod of items) {
      await this.api.delete(pods, keyOf(pod), { gracePeriodSeconds: 0 }).catch(unlessGone)
    }
    await this.api.delete(namespaces, { name: namespace }).catch(unlessGone)
  }
}

function unlessGone(error: unknown): void {
  if (!hasReason(error, 'NotFound', 'Conflict')) throw error
}

/** The refusal that the call must end with. */
export async function refusal(call: Promise<unknown>): Promise<ApiError> {
  try {
    await call
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the call was not refused')
}

/** Waits until the look succeeds; what other actors of a cluster do takes its time. */
export async function eventually<T>(poll: () => Promise<T | undefined | false>, within = 20_000): Promise<T> {
  const end = performance.now() + within
  for (;;) {
    const found = await poll()
    if (found !== undefined && found !== false) return found
    if (performance.now() > end) throw new Error('it did not come about in time')
    await pause(5)
  }
}

export async function isGone(api: KubeApi, type: ResourceType, object: KubeObject): Promise<boolean> {
  try {
    const { metadata } = await api.get(type, keyOf(object))
    return metadata.uid !== object.metadata.uid
  } catch (error) {
    if (hasReason(error, 'NotFound')) return true
    throw error
  }
}

/** The first events of a watch, bookmarks aside; the watch is then given up. */
export async function firstEvents<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  query: WatchQuery,
  count: number,
): Promise<readonly WatchEvent<T>[]> {
  const abort = new AbortController()
  const events: WatchEvent<T>[] = []
  for await (const event of api.watch(type, { ...query, signal: abort.signal })) {
    if (event.type === 'BOOKMARK') continue
    events.push(event)
    if (events.length === count) break
  }
  abort.abort()
  return events
}

export function configMap(namespace: string, name: string, more: Partial<ConfigMap> = {}): ConfigMap {
  const { metadata, ...rest } = more
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, ...metadata }, ...rest }
}

export function pod(
  namespace: string,
  name: string,
  more: { labels?: Record<string, string>; nodeName?: string } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, ...(more.labels === undefined ? {} : { labels: more.labels }) },
    spec: {
      containers: [{ name: 'main', image: 'registry.example/app:1' }],
      ...(more.nodeName === undefined ? {} : { nodeName: more.nodeName }),
    },
  }
}

export function createMap(fixture: ContractFixture, namespace: string, name: string, more: Partial<ConfigMap> = {}) {
  return fixture.api.create(configMaps, configMap(namespace, name, more))
}
