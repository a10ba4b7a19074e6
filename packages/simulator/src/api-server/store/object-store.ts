import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { Bucket, type StoreObserver, type VersionCounter } from './bucket.ts'
import { sortedTree } from './sorted-tree.ts'

export interface ObjectStoreOptions {
  /** How many changes each resource remembers for watches that resume and readers that lag. */
  readonly eventLogLength?: number
}

/** All objects, under one global version that grows with every write. */
export class ObjectStore {
  readonly #versions: VersionCounter = { last: 1000 }
  readonly #buckets = new Map<string, Bucket>()
  readonly #observers = new Map<string, Set<StoreObserver>>()
  readonly #eventLogLength: number

  constructor({ eventLogLength = 10_000 }: ObjectStoreOptions = {}) {
    this.#eventLogLength = eventLogLength
  }

  get version(): number {
    return this.#versions.last
  }

  /** The objects of one resource; made when first asked for. */
  bucket(storageKey: string): Bucket {
    let bucket = this.#buckets.get(storageKey)
    if (bucket === undefined) {
      bucket = new Bucket(this.#bucketOptions(storageKey))
      this.#buckets.set(storageKey, bucket)
    }
    return bucket
  }

  /** Notifies of every object of a resource there is, as added, and then of each change as soon as it is stored. Nothing can be missed. */
  observe(storageKey: string, observer: StoreObserver): () => void {
    for (const [, object] of this.bucket(storageKey).entries()) observer({ type: 'ADDED', object })
    const observers = this.#observersOf(storageKey)
    observers.add(observer)
    return () => observers.delete(observer)
  }

  /** Forgets a resource that is no longer served, and ends its watches. */
  drop(storageKey: string): void {
    this.#buckets.get(storageKey)?.close()
    const empty = { ...this.#bucketOptions(storageKey), objects: sortedTree<KubeObject>() }
    this.#buckets.set(storageKey, new Bucket(empty))
  }

  compact(): void {
    for (const bucket of this.#buckets.values()) bucket.compact()
  }

  /** A store of its own that starts as this one is now; nothing is copied until one of the two writes. */
  fork(): ObjectStore {
    const copy = new ObjectStore({ eventLogLength: this.#eventLogLength })
    copy.#versions.last = this.#versions.last
    for (const [storageKey, bucket] of this.#buckets) {
      copy.#buckets.set(storageKey, bucket.fork(copy.#versions, copy.#observersOf(storageKey)))
    }
    return copy
  }

  /** Puts back all that was there when the other was forked of this one, past all rules. Versions are given out again. */
  restore(backup: ObjectStore): void {
    this.#versions.last = backup.version
    for (const storageKey of new Set([...this.#buckets.keys(), ...backup.#buckets.keys()]))
      this.bucket(storageKey).restore(backup.bucket(storageKey).present())
  }

  #bucketOptions(storageKey: string) {
    const observers = this.#observersOf(storageKey)
    return { versions: this.#versions, logLength: this.#eventLogLength, observers }
  }

  #observersOf(storageKey: string): Set<StoreObserver> {
    let observers = this.#observers.get(storageKey)
    if (observers === undefined) {
      observers = new Set()
      this.#observers.set(storageKey, observers)
    }
    return observers
  }
}
