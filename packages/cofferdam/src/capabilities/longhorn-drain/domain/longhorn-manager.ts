import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'

const managerApp = 'longhorn-manager'

/** On the DaemonSet of Longhorn's manager and on its pods, in every release. */
export const longhornManagerSelector = `app=${managerApp}`

export function isLonghornManager(labels: Labels): boolean {
  return labels['app'] === managerApp
}

/** What carries that label in Longhorn's namespace; undefined: it could not be read. */
export interface LonghornManagerObjects {
  readonly managerSets: readonly Pick<DaemonSet, 'metadata' | 'status'>[] | undefined
  readonly managerPods: readonly LonghornManagerPod[] | undefined
}

export interface LonghornManagerPod extends Pick<Pod, 'metadata' | 'status'> {
  readonly spec?: Pick<Pod['spec'], 'nodeName'>
}

/** Nodes on which a pod of the manager is ready: what Longhorn decides about the replicas of a node, the pod there decides. */
export function nodesWithManager(pods: readonly LonghornManagerPod[]): ReadonlySet<string> {
  const ready = pods.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  )
  return new Set(ready.flatMap(({ spec }) => spec?.nodeName ?? []))
}

/**
 * Longhorn's own manager, for people; undefined where there is none. It handles drains by itself, and no release has a
 * switch for that.
 *
 * A DaemonSet counts also while none of its pods runs, as during an upgrade, unless it wants none; a pod counts until it ended.
 */
export function parseLonghornManager({
  managerSets,
  managerPods,
}: LonghornManagerObjects): Observed<string | undefined> {
  const set = managerSets?.find(wantsPods)
  if (set !== undefined) return known(`DaemonSet ${set.metadata.name}`)
  const pod = managerPods?.find(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
  if (pod !== undefined) return known(`pod ${pod.metadata.name}`)
  if (managerSets === undefined || managerPods === undefined) {
    return unknown(`its ${managerSets === undefined ? 'DaemonSets' : 'pods'} cannot be read`)
  }
  return known(undefined)
}

function wantsPods({ metadata, status }: Pick<DaemonSet, 'metadata' | 'status'>): boolean {
  const isCounted = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1)
  return !isCounted || status?.desiredNumberScheduled !== 0
}
