import type { Node } from '@cofferdam/kubernetes/api/core.ts'

/**
 * On a node that Cofferdam cordoned: for what. The uid of the NodeDisruption, or the name of the capability that needs the cordon.
 * Set and taken away in one write with the cordon; a cordon is lifted only where the mark says for whom.
 */
export const cordonedByAnnotation = 'cofferdam.io/cordoned-by'

/** '' where Cofferdam did not cordon it. */
export function cordonMarkOf({ metadata }: Pick<Node, 'metadata'>): string {
  return metadata.annotations?.[cordonedByAnnotation] ?? ''
}
