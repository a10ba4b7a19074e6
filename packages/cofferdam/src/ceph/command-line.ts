import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCommand } from './ceph-commands.ts'
import { cephUnreachable } from './ceph-unreachable.ts'

/** How the command line takes the arguments that mons take by name: in this order, or as an option. */
interface ArgumentOrder {
  readonly positional?: readonly string[]
  readonly options?: readonly string[]
}

const argumentOrders: Readonly<Record<string, ArgumentOrder>> = {
  'osd crush dump': {},
  'osd dump': {},
  'osd metadata': { positional: ['id'] },
  'osd ok-to-stop': { positional: ['ids'], options: ['max'] },
  'osd ok-to-upgrade': { positional: ['crush_bucket', 'ceph_version', 'max'] },
  'osd pool ls': { positional: ['detail'] },
  'osd safe-to-destroy': { positional: ['ids'] },
  'osd set-group': { positional: ['flags', 'who'] },
  'osd tree': { positional: ['states'] },
  'osd unset-group': { positional: ['flags', 'who'] },
  'pg dump': { positional: ['dumpcontents'] },
  quorum_status: {},
  status: {},
  versions: {},
}

/** The arguments of `ceph` that say the same as the command, format included. Never meant for a shell. */
export function buildCommandLine(command: CephCommand): readonly string[] {
  const { prefix, format = 'json', ...given } = command
  const order = argumentOrders[prefix]
  if (order === undefined) throw new Error(`no order of arguments is known for ceph ${prefix}`)
  const { positional = [], options = [] } = order
  const stray = Object.keys(given).find((name) => !positional.includes(name) && !options.includes(name))
  if (stray !== undefined) throw new Error(`ceph ${prefix} takes no argument ${stray} on the command line`)
  return [
    ...prefix.split(' '),
    ...positional.flatMap((name) => words(prefix, given[name])),
    ...options.flatMap((name) => words(prefix, given[name]).flatMap((word) => [`--${name}`, word])),
    '--format',
    ...words(prefix, format),
  ]
}

function words(prefix: string, value: Json | undefined): readonly string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((item: Json) => words(prefix, item))
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new Error(`ceph ${prefix} was given an argument that is neither text nor number`)
  }
  const word = String(value)
  // A name comes from the cluster; one like `--conf=x` must not become an option of the program.
  if (word === '' || word.startsWith('-')) {
    throw cephUnreachable(prefix, `the argument ${JSON.stringify(word)} cannot be said on the command line`)
  }
  return [word]
}
