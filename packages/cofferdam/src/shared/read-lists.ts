import type { Parsed, UnreadableObject } from './parsed.ts'

export interface ReadList<V> {
  readonly views: readonly V[]
  readonly unreadable: readonly UnreadableObject[]
}

/** Reads a list of objects again and again; what stands where it stood is not read twice. */
export class ListReader<T extends object, V> {
  #items: readonly T[] = []
  #stamp: readonly unknown[] = []
  #parsed: readonly Parsed<V>[] = []
  #result: ReadList<V> = { views: [], unreadable: [] }

  /** `stamp` is all else that the views are made from; where it changed, everything is read. */
  read(items: readonly T[], stamp: readonly unknown[], parse: (item: T) => Parsed<V>): ReadList<V> {
    const isStampSame = areSame(stamp, this.#stamp)
    if (isStampSame && areSame(items, this.#items)) return this.#result
    const before = this.#items
    const parsed = this.#parsed.slice(0, items.length)
    const views = this.#result.views.slice(0, items.length)
    // As long as all can be read, views stand where their objects do.
    let isEachReadable = this.#result.unreadable.length === 0
    for (let at = 0; at < items.length; at += 1) {
      const item = items[at] as T
      if (isStampSame && item === before[at]) continue
      const one = parse(item)
      parsed[at] = one
      if ('view' in one) views[at] = one.view
      else isEachReadable = false
    }
    this.#items = items
    this.#stamp = stamp
    this.#parsed = parsed
    this.#result = isEachReadable ? { views, unreadable: [] } : collect(parsed)
    return this.#result
  }
}

function collect<V>(parsed: readonly Parsed<V>[]): ReadList<V> {
  const views: V[] = []
  const unreadable: UnreadableObject[] = []
  for (const one of parsed) {
    if ('view' in one) views.push(one.view)
    else unreadable.push(one.unreadable)
  }
  return { views, unreadable }
}

/** Something made of a list, made anew only when an element of the list changes. */
export class ListIndex<T, R> {
  readonly #build: (items: readonly T[]) => R
  #items: readonly T[] | undefined
  #built: R | undefined

  constructor(build: (items: readonly T[]) => R) {
    this.#build = build
  }

  of(items: readonly T[]): R {
    if (this.#items === undefined || !areSame(items, this.#items)) this.#built = this.#build(items)
    this.#items = items
    return this.#built as R
  }
}

function areSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left === right) return true
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false
  return true
}
