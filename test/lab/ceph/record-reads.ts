/** The paths that a reader of JSON looked at and found, as `jsonShapeOf` writes them. */
export function recordReads(json: unknown, read: (json: unknown) => unknown, named?: RegExp): string[] {
  const found = new Set<string>()
  read(watched(json, ''))
  return [...found].sort()

  function watched(value: unknown, path: string): unknown {
    if (typeof value !== 'object' || value === null) return value
    const isList = Array.isArray(value)
    const isNamed = named?.test(path) === true
    return new Proxy(value, {
      get(target, key): unknown {
        const item: unknown = Reflect.get(target, key)
        if (typeof key !== 'string' || !Object.hasOwn(target, key) || (isList && key === 'length')) return item
        const name = isNamed ? '*' : key
        const place = isList ? `${path}[]` : path === '' ? name : `${path}.${name}`
        found.add(place)
        return watched(item, place)
      },
    })
  }
}
