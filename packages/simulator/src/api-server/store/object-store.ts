import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { Bucket, type VersionCounter } from './bucket.ts'
import { sortedTree } from './sorted-tree.ts'

export interface ObjectStoreOptions {
  /** How many changes each resource remembers for watches that resume and readers that lag. */
  readonly eventLogLength?: number
}

/** All objects, under one global version that grows with every write. */
export class ObjectStore {
  readonly #versions: VersionCounter = { last: 1000 }
  readonly #buckets = new Map<string, Bucket>()
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
      bucket = new Bucket({ versions: this.#versions, logLength: this.#eventLogLength })
      this.#buckets.set(storageKey, bucket)
    }
    return bucket
  }

  /** Forgets a resource that is no longer served, and ends its watches. */
  drop(storageKey: string): void {
    this.#buckets.get(storageKey)?.close()
    const empty = { versions: this.#versions, logLength: this.#eventLogLength, objects: sortedTree<KubeObject>() }
    this.#buckets.set(storageKey, new Bucket(empty))
  }

  compact(): void {
    for (const bucket of this.#buckets.values()) bucket.compact()
  }

  /** A store of its own that starts as this one is now; nothing is copied until one of the two writes. */
  fork(): ObjectStore {
    const copy = new ObjectStore({ eventLogLength: this.#eventLogLength })
    copy.#versions.last = this.#versions.last
    for (const [storageKey, bucket] of this.#buckets) copy.#buckets.set(storageKey, bucket.fork(copy.#versions))
    return copy
  }
}
