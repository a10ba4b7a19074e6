import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

/** What was read of a cluster at one time, without secrets: what `cofferdam snapshot` prints. */
export interface SavedCluster {
  readonly apiVersion: typeof savedVersion
  readonly kind: typeof savedKind
  readonly takenAt: string
  /** The address of the API server. */
  readonly server: string
  readonly versions?: SavedVersions
  readonly kinds: readonly SavedKind[]
}

/** What the snapshot was taken with and of. The operator's own version is with its settings, on the ledger. */
export interface SavedVersions {
  readonly cofferdam: string
  /** Left out where the server has not said. */
  readonly kubernetes?: string
}

export const savedVersion = 'cofferdam.io/v1alpha1'
export const savedKind = 'ClusterSnapshot'

export interface SavedKind extends Pick<ResourceType, 'group' | 'version' | 'plural'> {
  /** `absent`: the server does not know the kind. `refused`: it may not be read, so nothing is known of it. */
  readonly state: 'read' | 'absent' | 'refused'
  /** Why it was refused. */
  readonly why?: string
  readonly items: readonly KubeObject[]
}

export function kindName({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`
}
