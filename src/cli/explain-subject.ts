import { CofferdamError } from '../errors.ts'

/** What is to be explained. */
export type Subject =
  | { readonly kind: 'node' | 'nodedisruption'; readonly name: string }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'pdb'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'machine'; readonly namespace: string; readonly name: string }

const aliases: Readonly<Record<string, Subject['kind']>> = {
  node: 'node',
  nodes: 'node',
  no: 'node',
  pod: 'pod',
  pods: 'pod',
  po: 'pod',
  pdb: 'pdb',
  pdbs: 'pdb',
  poddisruptionbudget: 'pdb',
  poddisruptionbudgets: 'pdb',
  machine: 'machine',
  machines: 'machine',
  nodedisruption: 'nodedisruption',
  nodedisruptions: 'nodedisruption',
  nd: 'nodedisruption',
}
const forms = 'node/NAME, pod/NAMESPACE/NAME, pdb/NAMESPACE/NAME, machine/NAMESPACE/NAME or nodedisruption/NAME'

/**
 * Reads `node/N`, `pod/NS/P`, `pdb/NS/P`, `machine/NS/M`, `nodedisruption/R` or `nd/R`, and nothing else.
 *
 * @throws CofferdamError USAGE whose hint is the form that was most likely meant
 */
export function parseSubject(words: readonly string[], namespace: string | undefined): Subject {
  const parts = words.flatMap((word) => word.split('/'))
  const [kind = '', first = '', second = ''] = parts
  if (words.length === 1 && parts.every((part) => part !== '')) {
    if (kind === 'node' && parts.length === 2) return { kind, name: first }
    if ((kind === 'nodedisruption' || kind === 'nd') && parts.length === 2)
      return { kind: 'nodedisruption', name: first }
    if ((kind === 'pod' || kind === 'pdb' || kind === 'machine') && parts.length === 3)
      return { kind, namespace: first, name: second }
  }
  const meant = closestForm(parts, namespace)
  const hint = meant === undefined ? {} : { hint: `cofferdam explain ${meant}` }
  throw new CofferdamError('USAGE', `"${words.join(' ')}" is not ${forms}`, hint)
}

function closestForm(parts: readonly string[], namespace: string | undefined): string | undefined {
  const [word = '', ...rest] = parts
  const kind = aliases[word.toLowerCase()]
  const names = rest.filter((name) => name !== '')
  if (kind === 'node' || kind === 'nodedisruption') return names.length === 1 ? `${kind}/${names[0]}` : undefined
  if (kind !== undefined) {
    const [first, second] = names.length === 1 ? [namespace ?? 'NAMESPACE', names[0]] : names
    return first === undefined || second === undefined || names.length > 2 ? undefined : `${kind}/${first}/${second}`
  }
  return parts.length === 1 && word !== '' ? `node/${word}` : undefined
}
