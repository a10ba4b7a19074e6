import type { CephTrust } from './named-clusters.ts'

/** As the flags of the operator have them. */
export interface WrittenTrust {
  readonly cephClusters?: string | undefined
  readonly ownOsds?: string | undefined
  readonly growOsds?: string | undefined
  readonly rookImage?: string | undefined
  /** One Ceph is asked directly, whatever the CephClusters are. */
  readonly asksOneCeph?: boolean
}

export type ParsedTrust =
  | { readonly trust: CephTrust }
  /** With the flag and what of it is wrong. */
  | { readonly problem: string }

/** Fails closed: one value that cannot be used makes all of it unusable, rather than less or more than was meant. */
export function parseTrust(written: WrittenTrust): ParsedTrust {
  const named = parseNames('--ceph-clusters', written.cephClusters)
  const own = parseNames('--own-osds', written.ownOsds)
  const grow = parseNames('--grow-osds', written.growOsds)
  for (const list of [named, own, grow]) if ('problem' in list) return list
  if ('problem' in named || 'problem' in own || 'problem' in grow) return { problem: '' }
  const rookImage = written.rookImage?.trim()
  const trust = { named: named.names, own: own.names, grow: grow.names, rookImage }
  const problem = contradictionIn(trust, written)
  return problem === undefined ? { trust } : { problem }
}

function contradictionIn(trust: CephTrust, { asksOneCeph }: WrittenTrust): string | undefined {
  const { named, own, grow, rookImage } = trust
  const unnamed = own.find((key) => !named.includes(key))
  if (unnamed !== undefined) return `--own-osds: ${unnamed} is not among --ceph-clusters`
  const unowned = grow.find((key) => !own.includes(key))
  if (unowned !== undefined) return `--grow-osds: ${unowned} is not among --own-osds`
  if (rookImage !== undefined && !image.test(rookImage)) {
    return `--rook-image: ${JSON.stringify(rookImage)} is no image, as in docker.io/rook/ceph:v1.18.8`
  }
  if (grow.length > 0 && rookImage === undefined)
    return '--grow-osds needs --rook-image: it has the program that prepares disks'
  if (asksOneCeph === true && named.length !== 1) {
    return `--ceph-conf, --ceph-name and --ceph-keyring lead to one Ceph, and --ceph-clusters names ${named.length}: name exactly the one that they lead to`
  }
  return undefined
}

const part = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/
const image = /^[\w][\w./:@-]{0,511}$/

function parseNames(
  flag: string,
  text: string | undefined,
): { readonly names: string[] } | { readonly problem: string } {
  if (text === undefined) return { names: [] }
  const names: string[] = []
  for (const word of text.split(',').map((each) => each.trim())) {
    const [namespace = '', name = '', ...more] = word.split('/')
    if (more.length > 0 || !part.test(namespace) || !part.test(name)) {
      return { problem: `${flag}: ${JSON.stringify(word)} is not NAMESPACE/NAME, as in rook-ceph/rook-ceph` }
    }
    if (!names.includes(word)) names.push(word)
  }
  return { names }
}
