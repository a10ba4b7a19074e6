import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { HandOverDirection } from '../../shared/hand-over.ts'
import type { HandOverKind } from './hand-over-kind.ts'

/** What is handed over, and by which names. */
export interface HandOverSubject {
  readonly kind: HandOverKind
  readonly names: readonly string[]
}

/**
 * Reads `cephcluster/NAMESPACE/NAME`, or the form of another kind.
 *
 * @throws CofferdamError USAGE that names the form of each kind
 */
export function parseHandOverSubject(
  words: readonly string[],
  { kinds, direction }: { readonly kinds: readonly HandOverKind[]; readonly direction: HandOverDirection },
): HandOverSubject {
  const text = words.join(' ')
  const [word = '', ...names] = text.split('/')
  const isNamed = names.length > 0 && !/\s/.test(text) && names.every((name) => name !== '')
  const kind = kinds.find(({ form }) => form.split('/')[0] === word)
  if (kind !== undefined && isNamed && names.length === placesOf(kind)) return { kind, names }
  const meant = kind === undefined ? kinds : [kind]
  const forms = meant.map(({ form }) => form).join(' or ')
  const says = text === '' ? `cofferdam ${direction} needs what it is about: ${forms}` : `"${text}" is not ${forms}`
  throw new CofferdamError('USAGE', says, { hint: meant.map(hintFor).join('; ') })
}

/**
 * Refuses flags that are for another kind: they would have no effect, and whoever gave them counts on one.
 *
 * @throws CofferdamError USAGE
 */
export function refuseOtherFlags(
  { kind }: HandOverSubject,
  { kinds, direction, flags }: HandOverFlagsGiven & { readonly kinds: readonly HandOverKind[] },
): void {
  const own = new Set(kind.commands[direction].options.map((option) => option.attributeName()))
  for (const { form, commands } of kinds.filter((other) => other !== kind)) {
    const foreign = commands[direction].options.find(
      (option) => !own.has(option.attributeName()) && flags[option.attributeName()] !== undefined,
    )
    if (foreign === undefined) continue
    throw new CofferdamError('USAGE', `${foreign.long} is for ${form}, not for ${kind.form}`)
  }
}

interface HandOverFlagsGiven {
  readonly direction: HandOverDirection
  readonly flags: Readonly<Record<string, unknown>>
}

function placesOf({ form }: HandOverKind): number {
  return form.split('/').length - 1
}

function hintFor({ listedBy }: HandOverKind): string {
  return `${listedBy} shows those there are`
}
