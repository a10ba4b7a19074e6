/**
 * A setting of Longhorn that is on or off, in every spelling that Longhorn takes. Undefined: there is no such setting, and Longhorn
 * goes by its default; or the value is none that Longhorn takes.
 */
export function parseSwitch(value: unknown): boolean | undefined {
  if (typeof value !== 'string') return undefined
  if (spellingsOfOn.has(value)) return true
  return spellingsOfOff.has(value) ? false : undefined
}

const spellingsOfOn: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const spellingsOfOff: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** A setting of Longhorn that is a number from 0. Undefined where there is none, or it is none. */
export function parseAmount(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,15}$/u.test(value) ? Number(value) : undefined
}
