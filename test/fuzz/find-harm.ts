import type { FuzzTarget } from './targets/fuzz-target.ts'

/** What a text did to a parser that no text may do; undefined: nothing. */
export function findHarm({ parse, mayThrow = () => false }: FuzzTarget, text: string): string | undefined {
  try {
    parse(text)
  } catch (error) {
    if (!mayThrow(error)) return `it threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
  }
  const polluted = Object.keys(Object.prototype)
  for (const key of polluted) Reflect.deleteProperty(Object.prototype, key)
  return polluted.length === 0 ? undefined : `it gave every object the field ${polluted.join(', ')}`
}
