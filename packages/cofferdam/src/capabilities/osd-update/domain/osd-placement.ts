import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster, Placement } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import {
  isSameAffinity,
  joinAffinities,
  joinAffinitiesLikeRook,
  type NodeAffinity,
  topologyAffinity,
} from './node-affinity.ts'
import { deviceSetOfClaim } from './osd-device-set.ts'

/** Where an OSD is to run. The node affinities of all sources hold together. */
export interface WantedPlacement extends Omit<Placement, 'nodeAffinity'> {
  readonly nodeAffinities: readonly NodeAffinity[]
}

/** What counts as a whole: of several sources the last one that speaks. */
const wholeFields = ['podAffinity', 'podAntiAffinity', 'topologySpreadConstraints'] as const

/**
 * Where an OSD is to run by the spec, as Rook reads it: `spec.placement.all`, unless `onlyApplyOSDPlacement` says otherwise, then that
 * of its device set, or `spec.placement.osd` where it is on a disk. Undefined where its device set cannot be told: then its placement stays.
 */
export function wantedPlacement(deployment: Deployment, { spec }: CephCluster): WantedPlacement | undefined {
  const { labels = {} } = deployment.metadata
  const { storageClassDeviceSets = [], onlyApplyOSDPlacement } = spec?.storage ?? {}
  const all = onlyApplyOSDPlacement === true ? undefined : spec?.placement?.['all']
  if (labels['ceph.rook.io/pvc'] === undefined) return joinPlacements([all, spec?.placement?.['osd']])
  const set = deviceSetOfClaim(storageClassDeviceSets, labels)
  if (set !== undefined) return joinPlacements([all, set.placement])
  const isAnyOwn = storageClassDeviceSets.some(({ placement }) => placement !== undefined)
  return isAnyOwn ? undefined : joinPlacements([all])
}

/** What several placements ask for together, in this order. */
export function joinPlacements(placements: readonly (Placement | undefined)[]): WantedPlacement {
  const given = placements.filter((placement) => placement !== undefined)
  const whole = wholeFields.flatMap((field) => {
    const last = given.findLast((placement) => (placement[field] ?? undefined) !== undefined)
    return last === undefined ? [] : [[field, last[field]]]
  })
  return {
    ...Object.fromEntries(whole),
    nodeAffinities: given.flatMap(({ nodeAffinity }) => nodeAffinity ?? []),
    tolerations: given.flatMap(({ tolerations }) => tolerations ?? []),
  }
}

/** As a new pod gets it, but for its tolerations. */
export function placedPod({
  nodeAffinities,
  ...wanted
}: WantedPlacement): Pick<PodSpec, 'affinity' | 'topologySpreadConstraints'> {
  const { podAffinity, podAntiAffinity, topologySpreadConstraints } = wanted
  const nodeAffinity = joinAffinities(nodeAffinities)
  const affinity = {
    ...(nodeAffinity !== undefined && { nodeAffinity }),
    ...(podAffinity !== undefined && { podAffinity }),
    ...(podAntiAffinity !== undefined && { podAntiAffinity }),
  }
  return {
    ...(Object.keys(affinity).length > 0 && { affinity }),
    ...(topologySpreadConstraints !== undefined && { topologySpreadConstraints }),
  }
}

/**
 * The pod where it is wanted. What the spec does not speak of stays, but for what we put there when it did. `topology`: of its volume.
 *
 * Guarantees: the very same object where nothing differs, in Rook's way of joining affinities too.
 */
export function adaptPlacement(
  spec: PodSpec,
  wanted: WantedPlacement,
  given: { readonly ours: Placement; readonly topology: string | undefined },
): PodSpec {
  const { ours } = given
  const had = placementOf(spec)
  const fixed = topologyAffinity(given.topology) ?? []
  const affinities = [...wanted.nodeAffinities, ...[fixed].flat()]
  const isJoined = [joinAffinities, joinAffinitiesLikeRook].some((join) =>
    isSameAffinity(had.nodeAffinity, join(affinities)),
  )
  const isOurs = ours.nodeAffinity !== undefined && isSameJson(had.nodeAffinity, ours.nodeAffinity)
  const doesSpeak = wanted.nodeAffinities.length > 0
  const nodeAffinity =
    (doesSpeak && !isJoined) || (!doesSpeak && isOurs) ? joinAffinities(affinities) : had.nodeAffinity
  const whole = wholeFields.map((field) => {
    const isLeaving = ours[field] !== undefined && isSameJson(had[field], ours[field])
    return [field, wanted[field] ?? (isLeaving ? undefined : had[field])]
  })
  const next: Placement = { ...Object.fromEntries(whole), nodeAffinity }
  if (isSameJson(had, next)) return spec
  const { affinity: _, topologySpreadConstraints: __, ...others } = spec
  const nodeAffinities = nodeAffinity === undefined ? [] : [nodeAffinity]
  return { ...others, ...placedPod({ ...next, nodeAffinities }) }
}

/** What of the placement of a pod is ours, now that it is being written. */
export function placementPut(
  before: PodSpec,
  after: PodSpec,
  given: { wanted: WantedPlacement; ours: Placement },
): Placement {
  const { wanted, ours } = given
  const [had, has] = [placementOf(before), placementOf(after)]
  const spoken = wholeFields.filter((field) => wanted[field] !== undefined)
  const fields = [...(wanted.nodeAffinities.length > 0 ? (['nodeAffinity'] as const) : []), ...spoken]
  const put = fields.filter((field) => !isSameJson(had[field], has[field]) || isSameJson(ours[field], has[field]))
  return Object.fromEntries(put.map((field) => [field, has[field]]))
}

function placementOf({ affinity, topologySpreadConstraints }: PodSpec): Placement {
  return { ...affinity, ...(topologySpreadConstraints !== undefined && { topologySpreadConstraints }) }
}
