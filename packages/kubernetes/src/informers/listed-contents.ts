import type { KubeObject } from '../api/kube-object.ts'
import { keyOf, keyText } from '../api/resource-type.ts'
import type { Indexes } from './cache-contents.ts'

/** What was listed once and does not change: it is put in order by key or by index only when it is asked for so. */
export class ListedContents<T extends KubeObject, V> {
  readonly #project: (item: T) => V
  readonly #indexes: Indexes<V>
  #items: readonly T[] = []
  #values: readonly V[] = []
  #byKey: ReadonlyMap<string, V> | undefined
  readonly #byIndex = new Map<string, ReadonlyMap<string, readonly V[]>>()

  constructor(project: (item: T) => V, indexes: Indexes<V>) {
    this.#project = project
    this.#indexes = indexes
  }

  /** Lists of different namespaces have no object in common. */
  add(items: readonly T[]): void {
    this.#items = this.#items.length === 0 ? items : [...this.#items, ...items]
    const values = items.map((item) => this.#project(item))
    this.#values = this.#values.length === 0 ? values : [...this.#values, ...values]
    this.#byKey = undefined
    this.#byIndex.clear()
  }

  list(): readonly V[] {
    return this.#values
  }

  get(key: string): V | undefined {
    this.#byKey ??= new Map(this.#items.map((item, at) => [keyText(keyOf(item)), this.#values[at] as V]))
    return this.#byKey.get(key)
  }

  byIndex(name: string, value: string): readonly V[] {
    const index = this.#byIndex.get(name) ?? this.#buildIndex(name)
    this.#byIndex.set(name, index)
    return index.get(value) ?? none
  }

  #buildIndex(name: string): ReadonlyMap<string, readonly V[]> {
    const valuesOf = this.#indexes[name]
    if (valuesOf === undefined) throw new RangeError(`there is no index "${name}" on this cache`)
    const index = new Map<string, V[]>()
    for (const each of this.#values) {
      for (const value of valuesOf(each)) {
        const found = index.get(value)
        if (found === undefined) index.set(value, [each])
        else found.push(each)
      }
    }
    return index
  }
}

const none: readonly never[] = []
