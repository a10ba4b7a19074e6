import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

/** What can be explained. `workload` kinds are apart, since each is read from its own list. */
export type SubjectKind =
  | 'node'
  | 'zone'
  | 'nodedisruption'
  | 'pod'
  | 'pdb'
  | 'pvc'
  | 'volume'
  | 'machine'
  | 'cephcluster'
  | 'osd'
  | WorkloadKind

export type WorkloadKind = 'deployment' | 'statefulset' | 'daemonset' | 'replicaset'

/** What was asked about, as far as the words say. */
export interface AskedSubject {
  /** Left out where only a name was given: it may be of a node, or of something in the namespace. */
  readonly kind?: SubjectKind
  /** For an OSD its id; for a failure domain its name. */
  readonly name: string
  /** Left out where it was not said. */
  readonly namespace?: string
  /** Of a failure domain: `zone`, `rack`, … */
  readonly domainType?: string
}

/** Words as kubectl takes them, and Ceph's. */
const spellings: Readonly<Record<SubjectKind, readonly string[]>> = {
  node: ['node', 'nodes', 'no'],
  zone: ['zone', 'region', 'datacenter', 'room', 'row', 'pdu', 'rack', 'chassis'],
  nodedisruption: ['nodedisruption', 'nodedisruptions', 'nd'],
  pod: ['pod', 'pods', 'po'],
  pdb: ['pdb', 'pdbs', 'poddisruptionbudget', 'poddisruptionbudgets'],
  pvc: ['pvc', 'pvcs', 'persistentvolumeclaim', 'persistentvolumeclaims'],
  volume: ['volume', 'volumes', 'lhv', 'pv', 'persistentvolume', 'persistentvolumes'],
  machine: ['machine', 'machines', 'ma'],
  cephcluster: ['cephcluster', 'cephclusters'],
  osd: ['osd', 'osds'],
  deployment: ['deployment', 'deployments', 'deploy'],
  statefulset: ['statefulset', 'statefulsets', 'sts'],
  daemonset: ['daemonset', 'daemonsets', 'ds'],
  replicaset: ['replicaset', 'replicasets', 'rs'],
}

const kindOf = new Map(
  Object.entries(spellings).flatMap(([kind, words]) => words.map((word) => [word, kind as SubjectKind] as const)),
)

/** They have no namespace. */
const clusterKinds: readonly SubjectKind[] = ['node', 'zone', 'nodedisruption']

export const subjectForms =
  'NODE, osd.ID, or KIND/NAME with KIND one of node, pod, pdb, pvc, deployment, statefulset, daemonset, replicaset, volume, zone, machine, cephcluster, osd, nodedisruption; namespace by -n or KIND/NAMESPACE/NAME'

/**
 * Reads what people have at hand: `worker-a1`, `no/worker-a1`, `node worker-a1`, `po/orders-0` with -n, `pod/shop/orders-0`, `osd.4`.
 *
 * @throws CofferdamError USAGE that names what is wrong
 */
export function parseSubject(words: readonly string[], namespace: string | undefined): AskedSubject {
  const text = words.join(' ')
  const parts = words.flatMap((word) => word.split('/'))
  if (words.length > 2 || (words.length === 2 && parts.length !== 2) || parts.some((part) => part === '')) {
    throw unknownForm(text)
  }
  const [word = '', ...names] = parts
  if (names.length === 0) return withNamespace(parseName(word), namespace, text)
  const kind = kindOf.get(word.toLowerCase().split('.')[0] as string)
  if (kind === undefined) {
    throw new CofferdamError('USAGE', `cofferdam explain knows no kind "${word}"`, {
      hint: `it takes ${subjectForms}`,
    })
  }
  const [first = '', second] = names
  const isClusterScoped = clusterKinds.includes(kind)
  if (names.length > 2 || (isClusterScoped && second !== undefined)) throw unknownForm(text)
  const name = kind === 'osd' ? parseOsd(second ?? first, text) : (second ?? first)
  if (kind === 'zone') return { kind, name, domainType: word.toLowerCase() }
  if (isClusterScoped) return { kind, name }
  if (second !== undefined && namespace !== undefined && namespace !== first) {
    throw new CofferdamError('USAGE', `"${text}" and -n ${namespace} name two namespaces`)
  }
  return withNamespace({ kind, name }, second === undefined ? namespace : first, text)
}

function parseName(word: string): AskedSubject {
  const osd = /^osd\.(\d{1,9})$/.exec(word)?.[1]
  return osd === undefined ? { name: word } : { kind: 'osd', name: osd }
}

function withNamespace(subject: AskedSubject, namespace: string | undefined, text: string): AskedSubject {
  if (namespace === '') throw unknownForm(text)
  return namespace === undefined ? subject : { ...subject, namespace }
}

function parseOsd(word: string, text: string): string {
  const id = /^(?:osd\.)?(\d{1,9})$/.exec(word)?.[1]
  if (id !== undefined) return id
  throw new CofferdamError('USAGE', `"${text}" names no OSD: "${word}" is not its id`, {
    hint: 'cofferdam explain osd.4',
  })
}

function unknownForm(text: string): CofferdamError {
  const says = text === '' ? 'cofferdam explain needs what it is about' : `"${text}" is not what explain takes`
  return new CofferdamError('USAGE', says, { hint: `it takes ${subjectForms}` })
}
