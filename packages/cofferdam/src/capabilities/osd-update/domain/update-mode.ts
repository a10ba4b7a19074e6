import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { decideOwnership, ownershipAnnotations } from '../../../safety/ceph-ownership.ts'
import { type CephTrust, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import type { UpdatedCluster } from './snapshot.ts'

export interface UpdateMode {
  readonly mode: UpdatedCluster['mode']
  /** What its administrator said about updates and is not done, with what to do. */
  readonly problems: readonly string[]
}

/** Who updates the OSDs of a cluster. `trust` is undefined where the operator did not publish it: then all clusters count. */
export function updateModeOf(
  cluster: CephCluster,
  { trust, rookRuns }: { readonly trust: CephTrust | undefined; readonly rookRuns: boolean },
): UpdateMode {
  const { annotations: notes = {} } = cluster.metadata
  // Before updates had an annotation of their own, this one switched them off with the budgets.
  const isFormerOff =
    notes[ownershipAnnotations.updates] === undefined && notes[ownershipAnnotations.formerBudgets] === 'false'
  if (isFormerOff) return { mode: 'off', problems: [] }
  const { updates, problems } = decideOwnership({ cluster, trust: trust ?? guessed(cluster, rookRuns), rookRuns })
  return { mode: updates, problems: problems.filter((problem) => problem.includes(ownershipAnnotations.updates)) }
}

/** Rook writes the OSD Deployments, or may: only pods are restarted, on request. */
export function isBesideRook(mode: UpdatedCluster['mode']): boolean {
  return mode === 'plan' || mode === 'pace' || mode === 'contested'
}

/** As an operator sees it that published no such setting: then whether a Rook runs is all there is to go by. */
function guessed(cluster: CephCluster, rookRuns: boolean): CephTrust {
  const { namespace, name } = nameOf(cluster)
  const key = `${namespace}/${name}`
  return { named: [key], own: rookRuns ? [] : [key], grow: [], rookImage: undefined }
}
