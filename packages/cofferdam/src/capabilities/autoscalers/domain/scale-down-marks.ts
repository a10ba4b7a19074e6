/** What autoscalers leave a node alone for, by the annotation of the node that each of them reads. All take `"true"`. */
export const scaleDownMarks = [
  // cluster-autoscaler: the node is no candidate, nor removed if it was one.
  'cluster-autoscaler.kubernetes.io/scale-down-disabled',
  // Karpenter: the node is neither consolidated nor replaced for drift.
  'karpenter.sh/do-not-disrupt',
] as const

/** On a node: which of the marks Cofferdam has set, with commas between them. Written and taken away in one write with them. */
export const keptAnnotation = 'cofferdam.io/kept-from-scale-down'

const on = 'true'

/** The annotations of a node that matter here. */
export type MarkAnnotations = Readonly<Record<string, string>>

export function parseMarks(annotations: Readonly<Record<string, string>> = {}): MarkAnnotations {
  const found: Record<string, string> = {}
  for (const key of [...scaleDownMarks, keptAnnotation]) {
    const value = annotations[key]
    if (value !== undefined) found[key] = value
  }
  return found
}

/**
 * What becomes of the annotations of a node that autoscalers are to leave alone, or need not leave alone any more. null takes one away.
 *
 * Guarantees: a mark that another user had set, changed or taken away is theirs: it is neither written nor removed. What is set is
 * noted in the same write, so that whichever operator comes next removes exactly that. Once written, it asks for no further write.
 */
export function changeMarks(present: MarkAnnotations, isKept: boolean): Readonly<Record<string, string | null>> {
  const noted = present[keptAnnotation]
  if (noted === undefined) {
    if (!isKept) return {}
    const free = scaleDownMarks.filter((key) => present[key] === undefined)
    return { ...withAll(free, on), [keptAnnotation]: free.join(',') }
  }
  const own = ownMarks(present)
  if (!isKept) return { ...withAll(own, null), [keptAnnotation]: null }
  // What another user took away meanwhile is not set again.
  return own.join(',') === noted ? {} : { [keptAnnotation]: own.join(',') }
}

/** Marks that Cofferdam has set and that stand as it set them. */
export function ownMarks(present: MarkAnnotations): readonly string[] {
  const noted = present[keptAnnotation]?.split(',') ?? []
  return scaleDownMarks.filter((key) => noted.includes(key) && present[key] === on)
}

/** Marks that do not keep their autoscaler from the node. */
export function missingMarks(present: MarkAnnotations): readonly string[] {
  return scaleDownMarks.filter((key) => present[key] !== on)
}

function withAll<V>(keys: readonly string[], value: V): Record<string, V> {
  return Object.fromEntries(keys.map((key) => [key, value]))
}
