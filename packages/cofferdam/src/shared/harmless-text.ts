/**
 * Characters that make a terminal do something, begin a line that nobody printed, or turn the order of what follows:
 * C0 and C1 controls, DEL, line and paragraph separators, marks and overrides of direction.
 */
const harmful = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
const anyHarmful = new RegExp(`[${harmful}]`, 'gu')
const inJson = new RegExp(`[${harmful.replace('\\u0000-\\u001f', '')}]`, 'gu')

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Text from the cluster as one field of a line: what is harmful in it is shown as `\n`, `\x1b` or `\u202e`. */
export function harmlessText(text: string): string {
  return text.replace(anyHarmful, (character) => short[character] ?? escaped(character))
}

/** The same for every text inside a value. What holds nothing harmful stays the very same value. */
export function harmlessData<T>(value: T): T {
  return harmlessValue(value) as T
}

function harmlessValue(value: unknown): unknown {
  if (typeof value === 'string') return harmlessText(value)
  if (Array.isArray(value)) {
    const items = value.map(harmlessValue)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isPlain(value)) return value
  const fields = Object.entries(value)
  const cleaned = fields.map(([name, inner]): [string, unknown] => [harmlessText(name), harmlessValue(inner)])
  const isSame = cleaned.every(([name, inner], index) => name === fields[index]?.[0] && inner === fields[index]?.[1])
  return isSame ? value : Object.fromEntries(cleaned)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** JSON that a terminal prints as it stands: nothing is lost, what JSON leaves raw is escaped as JSON escapes. */
export function harmlessJson(json: string): string {
  return json.replace(inJson, unicodeEscape)
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscape(character)
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
