import { fieldText } from '@cofferdam/kubernetes/api/field-selector.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { ChangeCursor } from './change-cursor.ts'
import { type Change, ChangeLog } from './change-log.ts'
import { deepFreeze } from './deep-freeze.ts'
import { type SortedTree, sortedTree } from './sorted-tree.ts'

/** The counter that all buckets of a store share. */
export interface VersionCounter {
  last: number
}

/** Called with what is stored, as soon as it is: must neither throw nor write. */
export type StoreObserver = (change: Pick<Change, 'type' | 'object'>) => void

interface Snapshot {
  readonly version: number
  readonly objects: SortedTree<KubeObject>
}

/** A paged reader holds one snapshot for as long as it turns pages; this many readers may be under way in one bucket. */
const snapshotsHeld = 16

/**
 * All objects of one resource.
 *
 * Guarantees: every write is a compare-and-swap and gets its own version; what is stored is frozen; readers never wait
 * for writers nor writers for readers.
 */
export class Bucket {
  readonly #versions: VersionCounter
  readonly #log: ChangeLog
  readonly #observers: ReadonlySet<StoreObserver>
  readonly #objects: Map<string, KubeObject>
  /** The same objects in key order, save those whose keys are in `#unsorted`: writes are put in order when order is asked for. */
  #sorted: SortedTree<KubeObject>
  readonly #unsorted = new Set<string>()
  readonly #cursors = new Set<ChangeCursor>()
  readonly #indexes = new Map<string, Map<string, Set<string>>>()
  readonly #snapshots: Snapshot[] = []
  readonly #logLength: number

  constructor(options: {
    versions: VersionCounter
    logLength: number
    observers: ReadonlySet<StoreObserver>
    objects?: SortedTree<KubeObject>
  }) {
    this.#versions = options.versions
    this.#observers = options.observers
    this.#logLength = options.logLength
    this.#log = new ChangeLog(options.logLength, options.objects === undefined ? 0 : options.versions.last)
    this.#sorted = options.objects ?? sortedTree()
    this.#objects = new Map(this.#sorted.entries())
  }

  get size(): number {
    return this.#objects.size
  }

  /** How often it was written to: the same number means that nothing changed. */
  get changes(): number {
    return this.#log.next
  }

  /** The oldest version from which a watch can resume. */
  get oldestVersion(): number {
    return this.#log.forgottenVersion
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key)
  }

  /**
   * Stores `next` if what is there is still `expected` (undefined: nothing is there).
   *
   * @returns the stored object with its new resourceVersion, or undefined when somebody was faster
   */
  put(key: string, next: KubeObject, expected: KubeObject | undefined): KubeObject | undefined {
    if (this.#objects.get(key) !== expected) return undefined
    this.#versions.last += 1
    const version = this.#versions.last
    const object = deepFreeze(withVersion(next, version), expected)
    this.#objects.set(key, object)
    this.#unsorted.add(key)
    const type = expected === undefined ? 'ADDED' : 'MODIFIED'
    this.#record({ type, version, key, object, previous: expected })
    return object
  }

  /** Removes the object if it is still `expected`; returns its last state, with the version of the deletion. */
  remove(key: string, expected: KubeObject): KubeObject | undefined {
    if (this.#objects.get(key) !== expected) return undefined
    this.#versions.last += 1
    const version = this.#versions.last
    const object = deepFreeze(withVersion(expected, version), expected)
    this.#objects.delete(key)
    this.#unsorted.add(key)
    this.#record({ type: 'DELETED', version, key, object, previous: expected })
    return object
  }

  /** The objects in key order, from `lowest` on. */
  entries(lowest?: string): IterableIterator<[string, KubeObject]> {
    return this.#inOrder().entries(lowest)
  }

  /** Objects whose field has this value, in key order. The index of a field is made when it is first asked for. */
  withField(field: string, value: string): KubeObject[] {
    let index = this.#indexes.get(field)
    if (index === undefined) {
      index = new Map()
      this.#indexes.set(field, index)
      for (const [key, object] of this.#objects) enter(index, fieldText(object, field), key)
    }
    const keys = [...(index.get(value) ?? [])].sort()
    return keys.map((key) => this.#objects.get(key) as KubeObject)
  }

  /** The whole bucket as it is now, unmoved by later writes. */
  present(): SortedTree<KubeObject> {
    return this.#inOrder().clone()
  }

  /** The same, and `at` finds it again while it is held. */
  snapshot(): SortedTree<KubeObject> {
    const version = this.#versions.last
    const held = this.#snapshots.find((snapshot) => snapshot.version === version)
    if (held !== undefined) return held.objects
    const objects = this.present()
    this.#hold({ version, objects })
    return objects
  }

  /** The bucket as it was at a version, or undefined when that is no longer known. */
  at(version: number): SortedTree<KubeObject> | undefined {
    if (version === this.#versions.last) return this.snapshot()
    const held = this.#snapshots.find((snapshot) => snapshot.version === version)
    if (held !== undefined) return held.objects
    if (version < this.#log.forgottenVersion) return undefined
    const objects = this.present()
    const first = this.#log.positionAfter(version)
    for (let position = this.#log.next - 1; position >= first; position -= 1) {
      const { key, previous } = this.#log.at(position) as Change
      if (previous === undefined) objects.delete(key)
      else objects.set(key, previous)
    }
    this.#hold({ version, objects })
    return objects
  }

  /** Reads every change after a version. Assumes: the version is not older than `oldestVersion`. */
  follow(version: number, wants: (change: Change) => boolean): ChangeCursor {
    const position = this.#log.positionAfter(version)
    const cursor = new ChangeCursor({ log: this.#log, position, wants, onClose: () => this.#cursors.delete(cursor) })
    this.#cursors.add(cursor)
    return cursor
  }

  /** Forgets how it came to be: nobody can resume a watch or a list from before now. */
  compact(): void {
    this.#log.forgetUpTo(this.#versions.last)
    this.#snapshots.length = 0
  }

  /** Ends every reader, as when the resource is no longer served. */
  close(): void {
    for (const cursor of this.#cursors) cursor.end()
  }

  /**
   * Puts back what was, with the versions that it had, and ends every reader. Observers are told what differs, as if it were written.
   *
   * Assumes: the counter of versions was put back.
   */
  restore(objects: SortedTree<KubeObject>): void {
    const before = new Map(this.#objects)
    this.#sorted = objects.clone()
    this.#unsorted.clear()
    this.#objects.clear()
    for (const [key, object] of this.#sorted.entries()) this.#objects.set(key, object)
    this.#indexes.clear()
    this.#snapshots.length = 0
    this.#log.beginAnew(this.#versions.last)
    this.close()
    for (const [key, object] of before)
      if (!this.#objects.has(key)) for (const observe of this.#observers) observe({ type: 'DELETED', object })
    for (const [key, object] of this.#objects) {
      const former = before.get(key)
      if (former === object) continue
      // Of two objects of one name the first is gone.
      const isAnother = former !== undefined && former.metadata.uid !== object.metadata.uid
      for (const observe of this.#observers) {
        if (isAnother) observe({ type: 'DELETED', object: former })
        observe({ type: former === undefined || isAnother ? 'ADDED' : 'MODIFIED', object })
      }
    }
  }

  fork(versions: VersionCounter, observers: ReadonlySet<StoreObserver>): Bucket {
    return new Bucket({ versions, observers, logLength: this.#logLength, objects: this.present() })
  }

  #inOrder(): SortedTree<KubeObject> {
    for (const key of this.#unsorted) {
      const object = this.#objects.get(key)
      if (object === undefined) this.#sorted.delete(key)
      else this.#sorted.set(key, object)
    }
    this.#unsorted.clear()
    return this.#sorted
  }

  #hold(snapshot: Snapshot): void {
    this.#snapshots.push(snapshot)
    if (this.#snapshots.length > snapshotsHeld) this.#snapshots.shift()
  }

  #record(change: Change): void {
    if (this.#indexes.size > 0) this.#reindex(change)
    this.#log.append(change)
    for (const cursor of this.#cursors) cursor.notice(change)
    for (const observe of this.#observers) observe(change)
  }

  #reindex({ type, key, object, previous }: Change): void {
    for (const [field, index] of this.#indexes) {
      const before = previous === undefined ? undefined : fieldText(previous, field)
      const after = type === 'DELETED' ? undefined : fieldText(object, field)
      if (before === after) continue
      if (before !== undefined) leave(index, before, key)
      if (after !== undefined) enter(index, after, key)
    }
  }
}

/** The first key after all those that begin with `prefix`. */
export function afterPrefix(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}

function withVersion(object: KubeObject, version: number): KubeObject {
  const metadata = { ...object.metadata, resourceVersion: String(version) }
  // What was frozen was frozen all the way down: its copy need not be walked again.
  if (Object.isFrozen(object.metadata)) Object.freeze(metadata)
  return { ...object, metadata }
}

function enter(index: Map<string, Set<string>>, value: string, key: string): void {
  const keys = index.get(value)
  if (keys === undefined) index.set(value, new Set([key]))
  else keys.add(key)
}

function leave(index: Map<string, Set<string>>, value: string, key: string): void {
  const keys = index.get(value)
  keys?.delete(key)
  if (keys?.size === 0) index.delete(value)
}
