import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

/** What is to be explained. */
export type Subject =
  | { readonly kind: 'node' | 'nodedisruption'; readonly name: string }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'pdb'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'machine'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'cephcluster'; readonly namespace: string; readonly name: string }
  /** For an OSD the name is its id; the Deployment is that of an OSD. */
  | { readonly kind: 'osd' | 'deployment'; readonly namespace: string; readonly name: string }

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
  cephcluster: 'cephcluster',
  cephclusters: 'cephcluster',
  deployment: 'deployment',
  deployments: 'deployment',
  deploy: 'deployment',
  osd: 'osd',
  osds: 'osd',
  nodedisruption: 'nodedisruption',
  nodedisruptions: 'nodedisruption',
  nd: 'nodedisruption',
}
export const subjectForms =
  'node/NAME, pod/NAMESPACE/NAME, pdb/NAMESPACE/NAME, machine/NAMESPACE/NAME, nodedisruption/NAME, cephcluster/NAMESPACE/NAME or osd/NAMESPACE/ID'
const namespaced = ['pod', 'pdb', 'machine', 'cephcluster', 'deployment', 'osd'] as const

/**
 * Reads `node/N`, `pod/NS/P`, `pdb/NS/P`, `machine/NS/M`, `cephcluster/NS/C`, `deployment/NS/D`, `osd/NS/ID`, `nodedisruption/R` or
 * `nd/R`, and nothing else.
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
    const known = namespaced.find((one) => one === kind)
    if (known !== undefined && parts.length === 3 && (known !== 'osd' || /^\d{1,9}$/.test(second)))
      return { kind: known, namespace: first, name: second }
  }
  const meant = closestForm(parts, namespace)
  const hint = meant === undefined ? {} : { hint: `cofferdam explain ${meant}` }
  throw new CofferdamError('USAGE', `"${words.join(' ')}" is not ${subjectForms}`, hint)
}

function closestForm(parts: readonly string[], namespace: string | undefined): string | undefined {
  const [word = '', ...rest] = parts
  const kind = aliases[word.toLowerCase()]
  const names = rest.filter((name) => name !== '')
  if (kind === 'node' || kind === 'nodedisruption') return names.length === 1 ? `${kind}/${names[0]}` : undefined
  if (kind !== undefined) {
    const [first, second] = names.length === 1 ? [namespace ?? 'NAMESPACE', names[0]] : names
    if (kind === 'osd' && !/^\d{1,9}$/.test(second ?? '')) {
      const id = /^osd\.(\d{1,9})$/.exec(second ?? '')?.[1]
      return id === undefined ? undefined : `osd/${first}/${id}`
    }
    return first === undefined || second === undefined || names.length > 2 ? undefined : `${kind}/${first}/${second}`
  }
  return parts.length === 1 && word !== '' ? `node/${word}` : undefined
}
