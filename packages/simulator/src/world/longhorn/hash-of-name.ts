import { hash } from 'node:crypto'

const known = new Map<string, string>()
const mostKnown = 10_000

/** As Longhorn makes names of images and places, in every pass over them. */
export function hashOfName(text: string): string {
  const before = known.get(text)
  if (before !== undefined) return before
  if (known.size >= mostKnown) known.clear()
  const made = hash('sha512', text, 'hex')
  known.set(text, made)
  return made
}
