import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { customResourceDefinitions, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { instanceManagerSelector } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import { longhornManagerSelector } from '../capabilities/longhorn-drain/domain/longhorn-manager.ts'
import type { LonghornPlaces } from '../explain/snapshot.ts'
import { isLonghornSeen } from '../explain/unread-longhorn.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import type { Reader } from './reader.ts'

/** Where Longhorn is, for an answer about few nodes. Where nothing else shows it, pods are asked for by label, and then its definition. */
export async function readLonghornPlaces(
  { api, signal, informers }: Pick<Reader, 'api' | 'signal' | 'informers'>,
  budgets: readonly PodDisruptionBudget[],
): Promise<LonghornPlaces> {
  const view = informers.openOptional('longhorn/nodes', { type: longhornNodes })
  await informers.settled()
  const nodes = listedNodes(view)
  if (nodes.known || isLonghornSeen(budgets, [])) return { nodes, isInstalled: true }
  const lists = await Promise.all(
    [instanceManagerSelector, longhornManagerSelector].map((labelSelector) =>
      api.list(pods, { labelSelector, signal }),
    ),
  )
  const isRunning = lists.some(({ items }) => items.length > 0)
  return { nodes, isInstalled: isRunning || (await isLonghornDefined({ api, signal })) }
}

/** Whether the cluster has Longhorn's kinds, as far as whoever asks may know. */
export async function isLonghornDefined({ api, signal }: Pick<Reader, 'api' | 'signal'>): Promise<boolean> {
  const name = `${longhornNodes.plural}.${longhornNodes.group}`
  try {
    await api.get(customResourceDefinitions, { name }, { signal })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound') || hasReason(error, 'Forbidden')) return false
    throw error
  }
}

export function listedNodes(view: WatchView<KubeObject>): Observed<ReadonlySet<string>> {
  if (!view.synced) return unknown('they may not be read')
  return known(new Set([...view.list()].map(({ metadata }) => metadata.name)))
}
