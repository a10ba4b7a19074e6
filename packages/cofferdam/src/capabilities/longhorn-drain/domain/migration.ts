import type { LonghornNode, LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'

export interface LonghornMigration {
  /** Nodes that get `status.autoEvicting: false`. */
  readonly nodes: readonly string[]
  /** Replicas that get `spec.evictionRequested` as their status has it. */
  readonly replicas: readonly { readonly name: string; readonly isEvictionRequested: boolean }[]
}

/**
 * What is left to carry over from a Longhorn that kept eviction requests in the status of replicas.
 *
 * What has the new field already is left alone, so that a plan may be cut off anywhere and made again.
 */
export function planLonghornMigration(
  nodes: readonly LonghornNode[],
  replicas: readonly LonghornReplica[],
): LonghornMigration {
  return {
    nodes: nodes
      .filter(({ status }) => typeof status?.autoEvicting !== 'boolean')
      .map(({ metadata }) => metadata.name)
      .sort(),
    replicas: replicas
      .filter(({ spec }) => typeof spec?.evictionRequested !== 'boolean')
      .map(({ metadata, status }) => ({
        name: metadata.name,
        isEvictionRequested: status?.evictionRequested === true,
      }))
      .sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0)),
  }
}
