import {
  longhornEngines,
  longhornInstanceManagers,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { daemonSets, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumes, storageClasses } from '@cofferdam/kubernetes/api/storage.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { OperatorStatus } from '../../../shared/operator-status.ts'
import { longhornManagerSelector } from '../domain/longhorn-manager.ts'
import { parseLonghorn } from '../domain/parse-longhorn.ts'
import { type LonghornView, viewLonghorn } from '../view/longhorn-view.ts'

export interface LonghornQuestion {
  readonly api: Pick<KubeApi, 'list'>
  readonly clock: Clock
  /** Asked only where it is in charge of Longhorn. */
  readonly operator: (notSeen: string[]) => Promise<OperatorStatus>
  readonly signal: AbortSignal
}

/**
 * All of Longhorn, and what the drain policy makes of it. Undefined where there is none.
 *
 * Fails closed: without one of the kinds that hold nodes there is no answer, rather than one that is too kind; what could
 * not be read is told.
 */
export async function observeLonghornDrains(
  { api, clock, operator, signal }: LonghornQuestion,
  notSeen: string[],
): Promise<LonghornView | undefined> {
  const all = async <T extends KubeObject>(type: ResourceType<T>, namespace?: string, labelSelector?: string) => {
    // So many lists at once would each listen to the one signal, and Node.js warns of more than ten.
    const query = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      signal: AbortSignal.any([signal]),
    }
    const what = type.group === '' ? type.plural : `${type.plural}.${type.group}`
    return (await ifAllowed(what, notSeen, () => api.list(type, query)))?.items
  }
  const here = <T extends KubeObject>(type: ResourceType<T>) => all(type, longhornNamespace)
  const own = await here(longhornNodes)
  if (own === undefined || own.length === 0) return undefined
  const [
    settings,
    volumes,
    replicas,
    instanceManagers,
    kubeNodes,
    budgets,
    engines,
    attachments,
    disruptions,
    classes,
    persistent,
    managerSets,
    managerPods,
  ] = await Promise.all([
    here(longhornSettings),
    here(longhornVolumes),
    here(longhornReplicas),
    here(longhornInstanceManagers),
    all(nodes),
    here(podDisruptionBudgets),
    here(longhornEngines),
    here(longhornVolumeAttachments),
    all(nodeDisruptions),
    all(storageClasses),
    all(persistentVolumes),
    all(daemonSets, longhornNamespace, longhornManagerSelector),
    all(pods, longhornNamespace, longhornManagerSelector),
  ])
  if (!settings || !volumes || !replicas || !instanceManagers || !kubeNodes || !budgets) return undefined
  const snapshot = parseLonghorn({
    nowMs: clock.now(),
    settings,
    nodes: own,
    volumes,
    replicas,
    instanceManagers,
    kubeNodes,
    budgets,
    engines: engines ?? [],
    attachments: attachments ?? [],
    disruptions: disruptions ?? [],
    storageClasses: classes ?? [],
    persistentVolumes: persistent ?? [],
    managerSets,
    managerPods,
  })
  const { isRunning, renewedAt } = snapshot.settings.mode === 'observe' ? {} : await operator(notSeen)
  return viewLonghorn(snapshot, {
    ...(isRunning === undefined ? {} : { isAttended: isRunning }),
    ...(isRunning === false && renewedAt !== undefined ? { unattendedSince: renewedAt } : {}),
  })
}
