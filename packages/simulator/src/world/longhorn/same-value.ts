/** Whether two values of JSON say the same. Absent and undefined are one. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = a as Readonly<Record<string, unknown>>
  const right = b as Readonly<Record<string, unknown>>
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].every((name) => isSameValue(left[name], right[name]))
}
