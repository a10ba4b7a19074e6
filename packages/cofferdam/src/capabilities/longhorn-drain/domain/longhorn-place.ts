import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { isHoldBudget } from './budget-object.ts'

type Placed = Pick<KubeObject, 'metadata'>

/** What shows where Longhorn is, of all namespaces. */
export interface LonghornTraces {
  readonly settings: Iterable<Placed>
  readonly nodes: Iterable<Placed>
  readonly instanceManagers: Iterable<Placed>
  readonly volumes: Iterable<Placed>
  readonly replicas: Iterable<Placed>
  readonly engines: Iterable<Placed>
  readonly budgets: Iterable<PodDisruptionBudget>
}

/**
 * The namespaces in which a Longhorn is, or was, in their order.
 *
 * A manager writes its settings and its nodes wherever it starts, so these decide. Only where there are none of them in the whole cluster does
 * what it leaves behind: copies that somebody may still need, and budgets of ours over them.
 */
export function longhornPlaces(traces: LonghornTraces): readonly string[] {
  const { settings, nodes, instanceManagers, volumes, replicas, engines, budgets } = traces
  const managed = namespacesOf(settings, nodes)
  if (managed.length > 0) return managed
  return namespacesOf(instanceManagers, volumes, replicas, engines, [...budgets].filter(isHoldBudget))
}

/**
 * The namespace of the one Longhorn; undefined where there is none.
 *
 * Fails closed: of several, it is not known which has the data, so nothing is decided and nothing is written.
 */
export function placeOfLonghorn(places: readonly string[]): Observed<string | undefined> {
  return places.length <= 1 ? known(places[0]) : unknown(`${severalPlacesText(places)}: ${severalPlacesWayOut}`)
}

export function severalPlacesText(places: readonly string[]): string {
  return `a cluster has one Longhorn, but its settings or nodes are in several namespaces (${places.join(', ')})`
}

export const severalPlacesWayOut =
  'delete the settings.longhorn.io and nodes.longhorn.io where none runs; kubectl get daemonsets -A -l app=longhorn-manager shows where one does'

function namespacesOf(...lists: readonly Iterable<Placed>[]): readonly string[] {
  const found = new Set<string>()
  for (const list of lists) for (const { metadata } of list) found.add(metadata.namespace as string)
  return [...found].sort()
}
