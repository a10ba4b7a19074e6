import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, type ObjectKey, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

/**
 * What an object's deletion waits for: nothing yet, other finalizers or its grace period, its dependents to be deleted
 * first, or its dependents to be released first.
 */
type DeletionStage = 'kept' | 'going' | 'awaiting-dependents' | 'releasing-dependents'

export interface OwnedObject {
  readonly uid: string
  readonly type: ResourceType | undefined
  readonly key: ObjectKey
  readonly owners: readonly OwnerReference[]
  readonly stage: DeletionStage
  /** False for an owner that is only known from what refers to it. */
  readonly isPresent: boolean
}

interface Entry {
  readonly uid: string
  type: ResourceType | undefined
  key: ObjectKey
  owners: readonly OwnerReference[]
  stage: DeletionStage
  isPresent: boolean
  dependents: Set<Entry> | undefined
  /** How many dependents forbid that this owner goes before them. */
  blockers: number
}

export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'
const noOwners: readonly OwnerReference[] = []

/**
 * Who owns whom, by uid, as far as it has been seen.
 *
 * Every change answers with the uids that need a reconcile, in a stable order. The cost of a change is in proportion to the
 * owners of the changed object, or to its dependents when it goes or starts to wait for them; never to the whole graph.
 */
export class OwnershipGraph {
  readonly #entries = new Map<string, Entry>()

  get(uid: string): OwnedObject | undefined {
    return this.#entries.get(uid)
  }

  dependentsOf(uid: string): readonly OwnedObject[] {
    return [...(this.#entries.get(uid)?.dependents ?? [])]
  }

  hasBlockers(uid: string): boolean {
    return (this.#entries.get(uid)?.blockers ?? 0) > 0
  }

  /** Takes in the present state of an object. */
  observe(type: ResourceType, object: KubeObject): readonly string[] {
    const uid = object.metadata.uid ?? ''
    const entry = this.#entries.get(uid) ?? this.#add(uid)
    const wasPresent = entry.isPresent
    const affected = new Set<string>()
    const owners = object.metadata.ownerReferences ?? noOwners
    entry.type = type
    entry.key = keyOf(object)
    entry.isPresent = true
    if (!wasPresent || entry.owners !== owners) {
      const before = entry.owners
      entry.owners = owners
      this.#relink(entry, before, affected)
      if (owners.some((owner) => this.#isQuestionable(entry, owner))) affected.add(uid)
    }
    const stage = stageOf(object)
    if (stage !== entry.stage) {
      entry.stage = stage
      if (stage === 'awaiting-dependents') for (const dependent of entry.dependents ?? []) affected.add(dependent.uid)
      if (stage === 'awaiting-dependents' || stage === 'releasing-dependents') affected.add(uid)
    }
    return [...affected]
  }

  /** Takes in that an object has gone. */
  forget(uid: string): readonly string[] {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return []
    const affected = new Set<string>()
    const before = entry.owners
    entry.owners = noOwners
    entry.isPresent = false
    entry.stage = 'kept'
    this.#relink(entry, before, affected)
    for (const dependent of entry.dependents ?? []) affected.add(dependent.uid)
    this.#dropIfUnused(entry)
    return [...affected]
  }

  /** The objects of a resource that is no longer served. */
  uidsOf(isOfInterest: (type: ResourceType) => boolean): readonly string[] {
    return [...this.#entries.values()]
      .filter(({ type, isPresent }) => isPresent && type !== undefined && isOfInterest(type))
      .map(({ uid }) => uid)
  }

  #relink(entry: Entry, before: readonly OwnerReference[], affected: Set<string>): void {
    for (const reference of before) {
      const owner = this.#entries.get(reference.uid)
      if (owner === undefined) continue
      owner.dependents?.delete(entry)
      if (reference.blockOwnerDeletion === true) owner.blockers -= 1
    }
    for (const reference of entry.owners) {
      const owner = this.#entries.get(reference.uid) ?? this.#add(reference.uid)
      owner.dependents ??= new Set()
      owner.dependents.add(entry)
      if (reference.blockOwnerDeletion === true) owner.blockers += 1
    }
    for (const reference of before) {
      const owner = this.#entries.get(reference.uid)
      if (owner === undefined) continue
      if (owner.stage === 'awaiting-dependents' && owner.blockers === 0) affected.add(owner.uid)
      this.#dropIfUnused(owner)
    }
  }

  /** Whether the reference may be dangling, or names an owner that waits for its dependents to go. */
  #isQuestionable(entry: Entry, reference: OwnerReference): boolean {
    const owner = this.#entries.get(reference.uid)
    if (owner === undefined || !owner.isPresent || owner.stage === 'awaiting-dependents') return true
    const isNamed = owner.key.name === reference.name && owner.type?.kind === reference.kind
    return !isNamed || (owner.key.namespace !== undefined && owner.key.namespace !== entry.key.namespace)
  }

  #add(uid: string): Entry {
    const entry: Entry = {
      uid,
      type: undefined,
      key: { name: '' },
      owners: noOwners,
      stage: 'kept',
      isPresent: false,
      dependents: undefined,
      blockers: 0,
    }
    this.#entries.set(uid, entry)
    return entry
  }

  #dropIfUnused(entry: Entry): void {
    if (!entry.isPresent && (entry.dependents?.size ?? 0) === 0) this.#entries.delete(entry.uid)
  }
}

function stageOf({ metadata }: KubeObject): DeletionStage {
  if (metadata.deletionTimestamp === undefined) return 'kept'
  if (metadata.finalizers?.includes(orphanFinalizer)) return 'releasing-dependents'
  return metadata.finalizers?.includes(foregroundFinalizer) ? 'awaiting-dependents' : 'going'
}
