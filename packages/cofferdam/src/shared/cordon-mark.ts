import type { Node } from '@cofferdam/kubernetes/api/core.ts'

/**
 * On a node that Cofferdam cordoned: for what. The uid of the NodeDisruption, or the name of the capability that needs the cordon.
 * Set and taken away in one write with the cordon; a cordon is lifted only by what the mark names.
 */
export const cordonedByAnnotation = 'cofferdam.io/cordoned-by'

/** The marks of longhorn-drain, which closes a node so that Longhorn sees it; `lifted` once another client has uncordoned it. */
export const longhornCordon = { set: 'longhorn-drain', lifted: 'longhorn-drain, lifted' } as const

/** The name under which Kubernetes notes cordons of the operator in the managed fields of a node. */
export const cordonManager = 'cofferdam-operator'

/** What becomes of the cordon of a node and of its mark. */
export interface CordonChange {
  /** Absent: as it is. */
  readonly isCordoned?: boolean
  /** null takes it away. */
  readonly mark: string | null
}

/** '' where Cofferdam did not cordon it. */
export function cordonMarkOf({ metadata }: Pick<Node, 'metadata'>): string {
  return metadata.annotations?.[cordonedByAnnotation] ?? ''
}

/** Whether a mark is that of a NodeDisruption, whichever it is. */
export function isMarkOfRequest(mark: string): boolean {
  return mark !== '' && mark !== longhornCordon.set && mark !== longhornCordon.lifted
}
