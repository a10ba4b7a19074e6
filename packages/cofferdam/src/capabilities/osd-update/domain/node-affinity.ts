import type { NodeSelectorTerm } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { Placement } from '@cofferdam/kubernetes/api/kinds/rook.ts'

export type NodeAffinity = NonNullable<Placement['nodeAffinity']>
type Terms = readonly NodeSelectorTerm[]

/** `topology.kubernetes.io/zone=z1`: only there can the volume of an OSD be attached. */
export function topologyAffinity(topology: string | undefined): NodeAffinity | undefined {
  const [, key, value] = /^([^=]+)=(.+)$/.exec(topology ?? '') ?? []
  if (key === undefined || value === undefined) return undefined
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: 'In' as const, values: [value] }] }]
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
}

/** What all of them allow: required terms are choices, so each of one goes with each of the other. */
export function joinAffinities(affinities: readonly NodeAffinity[]): NodeAffinity | undefined {
  return joinBy(affinities, (one, other) => one.flatMap((term) => other.map((also) => bothTerms(term, also))))
}

/** Rook joins only the first terms of two, and of the other terms keeps those of the second. */
export function joinAffinitiesLikeRook(affinities: readonly NodeAffinity[]): NodeAffinity | undefined {
  return joinBy(affinities, ([one = {}], [first = {}, ...rest]) => [bothTerms(one, first), ...rest])
}

/** Whether they say the same: the order in which requirements stand means nothing. */
export function isSameAffinity(one: NodeAffinity | undefined, other: NodeAffinity | undefined): boolean {
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  if (!isSameJson(one?.[preferred] ?? [], other?.[preferred] ?? [])) return false
  return isSameList(requiredTerms(one), requiredTerms(other), (term, also) =>
    (['matchExpressions', 'matchFields'] as const).every((kind) =>
      isSameList<unknown>(term[kind] ?? [], also[kind] ?? [], isSameJson),
    ),
  )
}

function joinBy(
  affinities: readonly NodeAffinity[],
  joinTerms: (one: Terms, other: Terms) => Terms,
): NodeAffinity | undefined {
  if (affinities.length === 0) return undefined
  const preferred = affinities.flatMap((one) => one.preferredDuringSchedulingIgnoredDuringExecution ?? [])
  const nodeSelectorTerms = affinities
    .map(requiredTerms)
    .filter((terms) => terms.length > 0)
    .reduce((joined, terms) => (joined.length === 0 ? terms : joinTerms(joined, terms)), [])
  return {
    ...(nodeSelectorTerms.length > 0 && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }),
    ...(preferred.length > 0 && { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  }
}

function requiredTerms(affinity: NodeAffinity | undefined): Terms {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
}

function bothTerms(one: NodeSelectorTerm, other: NodeSelectorTerm): NodeSelectorTerm {
  const expressions = [...(one.matchExpressions ?? []), ...(other.matchExpressions ?? [])]
  const fields = [...(one.matchFields ?? []), ...(other.matchFields ?? [])]
  return {
    ...(expressions.length > 0 && { matchExpressions: expressions }),
    ...(fields.length > 0 && { matchFields: fields }),
  }
}

function isSameList<T>(one: readonly T[], other: readonly T[], isSame: (a: T, b: T) => boolean): boolean {
  return one.length === other.length && one.every((item) => other.some((also) => isSame(item, also)))
}
