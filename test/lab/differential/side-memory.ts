import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** What one server has said about its objects, by their path: its own uids and versions, for later requests. */
export class SideMemory {
  readonly #seen = new Map<string, JsonObject[]>()
  readonly #beginning: string

  /** @param beginning The version to go by where an object was never seen. */
  constructor(beginning: string) {
    this.#beginning = beginning
  }

  /** Notes the object in an answer to a request to this path, which names it or its collection. */
  note(path: string, answer: Json): void {
    if (!isJsonObject(answer) || !isJsonObject(answer['metadata']) || answer['kind'] === 'Status') return
    const { name, generateName, resourceVersion } = answer['metadata']
    if (typeof name !== 'string' || typeof resourceVersion !== 'string') return
    const own = objectPath(path, name)
    this.#add(own, answer)
    if (typeof generateName === 'string') this.#add(objectPath(path, `${generateName}*`), answer)
  }

  #add(path: string, object: JsonObject): void {
    const seen = this.#seen.get(path) ?? []
    seen.push(object)
    this.#seen.set(path, seen)
  }

  object(path: string, which: 'first' | 'latest'): JsonObject | undefined {
    return this.#seen.get(path)?.at(which === 'first' ? 0 : -1)
  }

  /** Puts what this server calls things in the place of references. */
  resolve<T extends Json>(value: T): T {
    return JSON.parse(this.resolveText(JSON.stringify(value))) as T
  }

  resolveText(text: string): string {
    return text.replaceAll(
      /<(uid|version|name) ([^ >]+)( first)?>/g,
      (_, what: string, path: string, first: string | undefined) => {
        const object = this.object(path, first === undefined ? 'latest' : 'first')
        const metadata = (object?.['metadata'] ?? {}) as Record<string, string>
        if (what === 'uid') return metadata['uid'] ?? '00000000-0000-4000-8000-000000000000'
        if (what === 'name') return metadata['name'] ?? 'nobody'
        return metadata['resourceVersion'] ?? this.#beginning
      },
    )
  }
}

const collectionPath = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(\/namespaces\/[^/]+(?=\/))?\/[^/]+/

/** The path of an object with this name, from any path that leads to it, its collection or its subresources. */
function objectPath(path: string, name: string): string {
  const collection = path.match(collectionPath)?.[0] ?? path
  return `${collection}/${name}`
}
