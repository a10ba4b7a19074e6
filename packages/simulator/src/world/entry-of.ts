/** The value under a key, made when there is none. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const held = map.get(key)
  if (held !== undefined) return held
  const made = make()
  map.set(key, made)
  return made
}
