import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Taint, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster, DeviceSelection, StorageClassDeviceSet } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PersistentVolumeClaim } from '@cofferdam/kubernetes/api/storage.ts'
import { closingOf, closingText, isClosingTaint } from '../../../shared/closed-node.ts'
import { hostnameOf } from '../../../shared/node-hostnames.ts'
import type { NewOsd } from './new-osd.ts'

/** On the CephCluster: any new value, best the present time, has all places inspected again. */
export const prepareAgainAnnotation = 'cofferdam.io/prepare-again'
/** On a node: its disks as somebody wrote them down; a change has that node inspected again. */
export const disksAnnotation = 'cofferdam.io/disks'

export const claimLabels = {
  claim: 'ceph.rook.io/pvc',
  set: 'ceph.rook.io/DeviceSet',
  id: 'ceph.rook.io/DeviceSetPVCId',
  index: 'ceph.rook.io/setIndex',
} as const

type StorageSpec = NonNullable<NonNullable<CephCluster['spec']>['storage']>

/** A node or a volume claim that the CephCluster wants OSDs on. */
export interface GrowthPlace {
  /** What Rook calls it by: the hostname of the node, or the name of the claim. */
  readonly name: string
  /**
   * Which inspection of it is wanted: the generation of the CephCluster, and what else was asked for since. What was made under another
   * one is of the past.
   */
  readonly asked: string
  /** Why no OSD can be prepared there now. */
  readonly unusable?: string
  /** Undefined for a node. */
  readonly claim?: ClaimPlace
  /** How many new OSDs can come of the disks that are named; absent where none are named one by one. */
  readonly mostOsds?: number
}

export interface ClaimPlace {
  readonly set: string
  readonly index: number
  /** Whether the claim has to be made first. */
  readonly isMissing: boolean
}

export interface PlaceObjects {
  readonly cluster: CephCluster
  readonly nodes: readonly Node[]
  readonly claims: readonly PersistentVolumeClaim[]
  /** Deployments of OSDs. */
  readonly deployments: readonly Deployment[]
  /** Places that there are statuses of. */
  readonly inspected: readonly { readonly place: string; readonly asked: string | undefined }[]
}

/** All places by `spec.storage`, each once, in the order of their names. */
export function growthPlaces(objects: PlaceObjects): readonly GrowthPlace[] {
  const byName = new Map<string, GrowthPlace>()
  for (const place of [...nodePlaces(objects), ...claimPlaces(objects)]) {
    if (!byName.has(place.name)) byName.set(place.name, place)
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The generation of the CephCluster that `asked` begins with; undefined where it makes no sense. */
export function generationAsked(asked: string | undefined): number | undefined {
  const [, digits] = /^(\d{1,15})(?: |$)/.exec(asked ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

export function deviceSetOf(cluster: CephCluster, name: string): StorageClassDeviceSet | undefined {
  return cluster.spec?.storage?.storageClassDeviceSets?.find((set) => set.name === name)
}

/** An OSD with what its place says of it: a volume that cannot move keeps it on the node where it was prepared. */
export function placedOsd(
  osd: NewOsd,
  { cluster, place, nodes }: Pick<PlaceObjects, 'cluster' | 'nodes'> & { readonly place: GrowthPlace },
): NewOsd {
  if (place.claim === undefined) return osd
  const { set } = place.claim
  if (deviceSetOf(cluster, set)?.portable === true) return { ...osd, set }
  const node = nodes.find((one) => hostnameOf(one).replaceAll('.', '-') === osd.location['host'])
  return { ...osd, set, node: node && hostnameOf(node) }
}

function askedOf({ metadata }: CephCluster, node?: Node): string {
  const again = metadata.annotations?.[prepareAgainAnnotation]
  const disks = node?.metadata.annotations?.[disksAnnotation]
  return [
    String(metadata.generation ?? 0),
    ...(again === undefined ? [] : [`again=${again}`]),
    ...(disks === undefined ? [] : [`disks=${disks}`]),
  ].join(' ')
}

function nodePlaces({ cluster, nodes }: PlaceObjects): GrowthPlace[] {
  const storage = cluster.spec?.storage ?? {}
  const { useAllNodes, nodes: named = [] } = storage
  const tolerations = nodeTolerations(cluster)
  const placeOf = (node: Node): GrowthPlace => {
    const unusable = whyUnusable(node, tolerations)
    return {
      name: hostnameOf(node),
      asked: askedOf(cluster, node),
      ...(unusable !== undefined && { unusable }),
      ...mostOsdsOf(storage, node),
    }
  }
  // A node that is set aside for other pods is none of "all nodes"; one that is away or cordoned for a while is.
  if (useAllNodes === true) return nodes.filter((node) => ownTaint(node, tolerations) === undefined).map(placeOf)
  return named.map(({ name }) => {
    const node = nodes.find((one) => hostnameOf(one) === name || one.metadata.name === name)
    if (node === undefined) return { name, asked: askedOf(cluster), unusable: 'there is no such node' }
    return placeOf(node)
  })
}

/** What Rook's program can make of disks that are named one by one. */
function mostOsdsOf(all: StorageSpec, node: Node): Pick<GrowthPlace, 'mostOsds'> {
  const own = all.nodes?.find(({ name }) => name === hostnameOf(node) || name === node.metadata.name)
  const named = chosenDevices(own ?? {}, all)?.devices ?? []
  if (named.length === 0) return {}
  const perDevice = (config: Readonly<Record<string, string>> = {}) =>
    Number(config['osdsPerDevice'] ?? own?.config?.['osdsPerDevice'] ?? all.config?.['osdsPerDevice'] ?? 1) || 1
  return { mostOsds: named.reduce((sum, { config }) => sum + Math.max(1, perDevice(config)), 0) }
}

/** The first way of choosing disks that is given; what a node says counts before what is said for all of them. */
export function chosenDevices(node: DeviceSelection, all: DeviceSelection): DeviceSelection | undefined {
  return [node, all].find(
    ({ devices: named = [], deviceFilter, devicePathFilter, useAllDevices }) =>
      named.length > 0 || Boolean(deviceFilter) || Boolean(devicePathFilter) || useAllDevices === true,
  )
}

function nodeTolerations({ spec }: CephCluster): readonly Toleration[] {
  return ['all', 'osd', 'prepareosd'].flatMap((kind) => spec?.placement?.[kind]?.tolerations ?? [])
}

function whyUnusable(node: Node, tolerations: readonly Toleration[]): string | undefined {
  if (node.metadata.deletionTimestamp !== undefined) return 'the node is being deleted'
  const closing = closingOf(node)
  if (closing !== undefined) return `the node is ${closingText(closing)}`
  if (conditionOf(node, 'Ready')?.status !== 'True') return 'the node is not ready'
  const taint = ownTaint(node, tolerations)
  return taint === undefined ? undefined : `the node has the taint ${taint.key}, which spec.placement does not tolerate`
}

/** Taints of the node's own condition, and of tools that empty it for a while, are reported better elsewhere. */
function ownTaint({ spec }: Node, tolerations: readonly Toleration[]): Taint | undefined {
  return spec?.taints?.find(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      !isClosingTaint(taint) &&
      !taint.key.startsWith('node.kubernetes.io/') &&
      !tolerations.some((toleration) => doesTolerate(toleration, taint)),
  )
}

function doesTolerate({ key = '', operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''))
}

/**
 * Claims that are there, and as many new ones as their set lacks.
 *
 * Guarantees: a claim that was begun with, or that an OSD is on, counts though it is not seen, so that one that is seen late has none
 * made beside it; a new claim never has the name of one of these.
 */
function claimPlaces({ cluster, claims, deployments, inspected }: PlaceObjects): GrowthPlace[] {
  const { namespace } = cluster.metadata
  const own = claims.filter(({ metadata }) => metadata.namespace === namespace)
  const asked = askedOf(cluster)
  const begun = inspected.filter((one) => one.asked === asked).map(({ place }) => place)
  const inUse = deployments.flatMap(({ metadata }) => metadata.labels?.[claimLabels.claim] ?? [])
  return (cluster.spec?.storage?.storageClassDeviceSets ?? []).flatMap((set) => {
    const unusable = whySetIsUnusable(set)
    const placeOf = (name: string, index: number, isMissing: boolean) => ({
      name,
      asked,
      ...(unusable !== undefined && { unusable }),
      claim: { set: set.name, index, isMissing },
    })
    const held = own.flatMap(({ metadata }) => {
      const index = Number(metadata.labels?.[claimLabels.index] ?? Number.NaN)
      const isOfSet = metadata.labels?.[claimLabels.set] === set.name && Number.isSafeInteger(index)
      return isOfSet ? [placeOf(metadata.name, index, false)] : []
    })
    const unseenOf = (names: readonly string[]) =>
      names.flatMap((name) => {
        const index = indexIn(set, name)
        return index === undefined || held.some((one) => one.name === name) ? [] : [placeOf(name, index, true)]
      })
    const unseen = unseenOf(begun)
    const counted = new Map([...unseen, ...unseenOf(inUse)].map((place) => [place.name, place]))
    const first = Math.max(-1, ...[...counted.values(), ...held].map(({ claim }) => claim.index)) + 1
    const lacking = Math.max(0, Math.min(set.count, mostClaims) - held.length - counted.size)
    return [
      ...held,
      ...unseen,
      ...Array.from({ length: lacking }, (_, at) => placeOf(claimName(set, first + at), first + at, true)),
    ]
  })
}

/** More than Ceph has ids for is a slip of the pen. */
const mostClaims = 10_000

function whySetIsUnusable(set: StorageClassDeviceSet): string | undefined {
  const { name, encrypted, volumeClaimTemplates: templates = [] } = set
  if (templates.length === 0) return `device set ${name} has no volumeClaimTemplates`
  if (templates.length > 1) return `device set ${name} has volumes of its own for metadata, which only Rook prepares`
  return encrypted === true ? `device set ${name} is encrypted, which only Rook prepares` : undefined
}

/** As Rook's, but for the random end: asked twice it names the same claim. */
function claimName({ name, volumeClaimTemplates = [] }: StorageClassDeviceSet, index: number): string {
  const template = volumeClaimTemplates[0]?.metadata?.name ?? ''
  return `${name.replaceAll('.', '-')}-${template === '' ? 'data' : template.replaceAll(' ', '-')}-${index}`
}

/** The number that follows in a claim's name, whatever comes after it; undefined where it is none of the set. */
function indexIn(set: StorageClassDeviceSet, claim: string): number | undefined {
  const prefix = claimName(set, 0).slice(0, -1)
  const [digits] = claim.startsWith(prefix) ? (/^\d{1,9}/.exec(claim.slice(prefix.length)) ?? []) : []
  return digits === undefined ? undefined : Number(digits)
}
