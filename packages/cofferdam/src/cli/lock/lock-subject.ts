import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

/**
 * Reads `pdb/NAME` or `pdb/NAMESPACE/NAME`.
 *
 * @throws CofferdamError USAGE
 */
export function parseLockSubject(
  verb: 'lock' | 'unlock',
  words: readonly string[],
  namespace: string | undefined,
): { readonly namespace: string | undefined; readonly name: string } {
  const text = words.join(' ')
  const parts = text.split('/')
  const [kind, first = '', second] = parts
  if (words.length === 1 && kind === 'pdb' && parts.length <= 3 && parts.slice(1).every((part) => part !== '')) {
    if (second !== undefined && namespace !== undefined && namespace !== first) {
      throw new CofferdamError('USAGE', `"${text}" and -n ${namespace} name two namespaces`)
    }
    if (second !== undefined) return { namespace: first, name: second }
    if (first !== '') return { namespace, name: first }
  }
  const meant = parts.length === 1 && words.length === 1 && text !== '' ? { hint: `cofferdam ${verb} pdb/${text}` } : {}
  throw new CofferdamError('USAGE', `"${text}" is not pdb/NAME or pdb/NAMESPACE/NAME`, meant)
}
