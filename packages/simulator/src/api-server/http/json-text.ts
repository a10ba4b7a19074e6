const texts = new WeakMap<object, string>()

/**
 * The JSON of a value. Frozen ones are written once and remembered for as long as they live, so that a list or a
 * watch of the same objects costs a concatenation.
 */
export function jsonText(value: object): string {
  if (!Object.isFrozen(value)) return JSON.stringify(value)
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = JSON.stringify(value)
  texts.set(value, text)
  return text
}
