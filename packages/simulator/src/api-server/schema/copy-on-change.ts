/** The fields of `source` that come before `field`, in a new object: where a walker starts when it meets a change. */
export function fieldsBefore(source: Readonly<Record<string, unknown>>, field: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name in source) {
    if (name === field) break
    setField(copy, name, source[name])
  }
  return copy
}

/** Plain assignment to a field called `__proto__` would change what the object inherits. */
export function setField(target: Record<string, unknown>, field: string, value: unknown): void {
  if (field === '__proto__') {
    Object.defineProperty(target, field, { value, enumerable: true, configurable: true, writable: true })
  } else target[field] = value
}
