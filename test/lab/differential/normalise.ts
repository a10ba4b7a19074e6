import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** Uids the test makes up are the same on both. */
const ownUid = '11111111-2222-4333-8444-555555555555'
/** Times of the test itself lie in 2020 and are compared; all others are the server's clock. */
const timePattern = /\b20(?!20-)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
/** A name that was made up for an object which then was refused. */
const generatedName = /\b([abc]-\d+-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g
const versionsInText: readonly RegExp[] = [
  /(?<=ResourceVersion in (?:the precondition|record) \()\d+/g,
  /(?<=ResourceVersion in (?:precondition|object meta): )\d+/g,
  /(?<=resource version: )\d+/gi,
  /(?<=current: )\d+/g,
  /(?<="resourceVersion":")\d+/g,
]

/**
 * Writes the answers of one server in words that mean the same on both: the n-th uid it named, the n-th version, the n-th
 * address. Equal words then say that the same things stayed the same and the same things changed, in the same order.
 */
export class Normaliser {
  readonly #uids = new Map<string, string>()
  readonly #names = new Map<string, string>()
  readonly #addresses = new Map<string, string>()
  readonly #versions: number[] = []
  readonly #hasLiveBudgets: boolean

  constructor({ hasLiveBudgets = false }: { readonly hasLiveBudgets?: boolean } = {}) {
    this.#hasLiveBudgets = hasLiveBudgets
  }

  /** What answers or events say, in common words. */
  normalise(value: Json): Json {
    this.#learn(value)
    return this.#walk(value, [])
  }

  /** Versions are ranked when the whole answer is known; a list may name them in any order. */
  #learn(value: Json): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#learn(item)
      return
    }
    if (!isJsonObject(value)) return
    const { metadata } = value
    if (isJsonObject(metadata) && typeof metadata['name'] === 'string') {
      const { name, generateName, resourceVersion } = metadata
      if (typeof resourceVersion === 'string' && !this.#isCounted(value)) this.#noteVersion(Number(resourceVersion))
      if (typeof generateName === 'string' && name.startsWith(generateName) && !this.#names.has(name)) {
        this.#names.set(name, `${generateName}<${this.#names.size + 1}>`)
      }
    }
    for (const item of Object.values(value)) if (item !== undefined) this.#learn(item)
  }

  #noteVersion(version: number): void {
    if (this.#versions.includes(version)) return
    this.#versions.push(version)
    this.#versions.sort((left, right) => left - right)
  }

  #walk(value: Json, path: readonly string[]): Json {
    if (typeof value === 'string') return this.#text(value, path)
    if (typeof value === 'number' && path.at(-1) === 'nodePort') return '<port>'
    if (Array.isArray(value)) {
      const items = value.map((item: Json) => this.#walk(item, [...path, '[]']))
      if (path.at(-1) === 'causes') return unique(sortedConflicts(items))
      return path.at(-1) === 'managedFields' ? sortedBy(items, managerText) : items
    }
    if (!isJsonObject(value)) return value
    const walked: Record<string, Json> = {}
    for (const [field, item] of Object.entries(value)) {
      if (item === undefined) continue
      walked[this.#text(field, [])] =
        field === 'metadata' && isJsonObject(item)
          ? this.#metadata(item, value, [...path, field])
          : this.#walk(item, [...path, field])
    }
    return walked
  }

  #metadata(metadata: JsonObject, holder: JsonObject, path: readonly string[]): Json {
    const walked = this.#walk(isNamespace(metadata) ? withSortedFinalizers(metadata) : metadata, path) as Record<
      string,
      Json
    >
    const { resourceVersion } = metadata
    if (typeof resourceVersion !== 'string') return walked
    if (typeof metadata['name'] !== 'string') return { ...walked, resourceVersion: this.#moment(resourceVersion) }
    return { ...walked, resourceVersion: this.#isCounted(holder) ? '<any>' : this.#rank(Number(resourceVersion)) }
  }

  #rank(version: number): string {
    const index = this.#versions.indexOf(version)
    return index < 0 ? '<unseen version>' : `<version ${index + 1}>`
  }

  /** Lists carry the version of the whole server, which counts what others write, too. */
  #moment(version: string): string {
    if (version === '' || version === '0') return version
    return Number(version) >= (this.#versions.at(-1) ?? 0) ? '<now>' : '<earlier>'
  }

  #text(value: string, path: readonly string[]): string {
    const field = path.at(-1)
    if (field === 'continue') return value === '' ? '' : '<continue>'
    if (field === 'clusterIP' || path.at(-2) === 'clusterIPs') return value === 'None' ? value : this.#address(value)
    let text = value
      .replaceAll(uidPattern, (uid) => (uid === ownUid ? uid : label(this.#uids, uid, 'uid')))
      .replaceAll(timePattern, '<time>')
    for (const [name, shown] of this.#names) text = text.replaceAll(name, shown)
    text = text.replaceAll(generatedName, '$1<generated>')
    for (const pattern of versionsInText) text = text.replaceAll(pattern, (version) => this.#rank(Number(version)))
    return text
  }

  /** Written by controllers, each in its own time: how often says nothing. */
  #isCounted({ kind }: JsonObject): boolean {
    return this.#hasLiveBudgets && kind === 'PodDisruptionBudget'
  }

  #address(value: string): string {
    return value === '' ? '' : label(this.#addresses, value, 'address')
  }
}

function label(labels: Map<string, string>, value: string, what: string): string {
  const known = labels.get(value) ?? `<${what} ${labels.size + 1}>`
  labels.set(value, known)
  return known
}

/** Their order follows the second of the write, which a slower server reaches earlier in the story. */
function managerText(entry: Json): string {
  const { operation, manager, subresource } = entry as Record<string, string>
  return `${operation} ${manager} ${subresource ?? ''}`
}

function isNamespace({ labels }: JsonObject): boolean {
  return isJsonObject(labels) && labels['kubernetes.io/metadata.name'] !== undefined
}

/** The real server puts them into any order where a namespace is deleted in another way than before. */
function withSortedFinalizers(metadata: JsonObject): JsonObject {
  const { finalizers } = metadata
  return Array.isArray(finalizers) ? { ...metadata, finalizers: sortedBy(finalizers, String) } : metadata
}

/** The real server finds conflicting owners in any order. */
function sortedConflicts(items: readonly Json[]): readonly Json[] {
  const isConflict = (item: Json) => isJsonObject(item) && item['reason'] === 'FieldManagerConflict'
  return items.every(isConflict) ? sortedBy(items, (item) => JSON.stringify(item)) : items
}

/** The real server checks metadata twice and then names the same cause twice. */
function unique(items: readonly Json[]): Json[] {
  const seen = new Set<string>()
  return items.filter((item) => seen.size < seen.add(JSON.stringify(item)).size)
}

function sortedBy(items: readonly Json[], text: (item: Json) => string): Json[] {
  return items.toSorted((left, right) => text(left).localeCompare(text(right)))
}
