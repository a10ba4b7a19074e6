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
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { createLonghornJudge } from '../../capabilities/longhorn-drain/domain/judge.ts'
import { longhornManagerSelector } from '../../capabilities/longhorn-drain/domain/longhorn-manager.ts'
import { createLonghornParser } from '../../capabilities/longhorn-drain/domain/parse-longhorn.ts'
import { asDecided } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { buildLonghornBoard, type LonghornBoard } from './longhorn-board.ts'
import { createSettledWatch, type SettledWatch } from './settled-watch.ts'
import { withoutManagedFields } from './without-managed-fields.ts'

/**
 * Follows all of Longhorn, and tells what the drain policy makes of it. Without Longhorn it is empty.
 *
 * Fails closed: while one of its kinds has not been read there is no answer.
 */
export function createLonghornWatch(shared: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
}): SettledWatch<LonghornBoard> {
  const { clock } = shared
  const follow = <T extends KubeObject>(type: ResourceType<T>, namespace?: string, labelSelector?: string) =>
    createOptionalCache<T, T>({
      ...shared,
      type,
      project: withoutManagedFields,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    })
  const caches = {
    settings: follow(longhornSettings, longhornNamespace),
    nodes: follow(longhornNodes, longhornNamespace),
    volumes: follow(longhornVolumes, longhornNamespace),
    replicas: follow(longhornReplicas, longhornNamespace),
    engines: follow(longhornEngines, longhornNamespace),
    instanceManagers: follow(longhornInstanceManagers, longhornNamespace),
    attachments: follow(longhornVolumeAttachments, longhornNamespace),
    budgets: follow(podDisruptionBudgets, longhornNamespace),
    kubeNodes: follow(nodes),
    disruptions: follow(nodeDisruptions),
    storageClasses: follow(storageClasses),
    persistentVolumes: follow(persistentVolumes),
    managerSets: follow(daemonSets, longhornNamespace, longhornManagerSelector),
    managerPods: follow(pods, longhornNamespace, longhornManagerSelector),
  }
  const all = Object.values(caches)
  const parse = createLonghornParser()
  const judge = createLonghornJudge()

  const isSynced = () => all.every(({ synced }) => synced)
  const look = (): LonghornBoard | undefined => {
    if (!isSynced() || [...caches.nodes.list()].length === 0) return undefined
    const seen = parse({
      nowMs: clock.now(),
      settings: [...caches.settings.list()],
      nodes: [...caches.nodes.list()],
      volumes: [...caches.volumes.list()],
      replicas: [...caches.replicas.list()],
      engines: [...caches.engines.list()],
      instanceManagers: [...caches.instanceManagers.list()],
      attachments: [...caches.attachments.list()],
      budgets: [...caches.budgets.list()],
      kubeNodes: [...caches.kubeNodes.list()],
      disruptions: [...caches.disruptions.list()],
      storageClasses: [...caches.storageClasses.list()],
      persistentVolumes: [...caches.persistentVolumes.list()],
      managerSets: [...caches.managerSets.list()],
      managerPods: [...caches.managerPods.list()],
    })
    const snapshot = asDecided(seen)
    return buildLonghornBoard({ snapshot, decision: judge.decide(snapshot) })
  }
  return createSettledWatch({
    clock,
    sources: all,
    look() {
      const board = look()
      return new Map(board === undefined ? [] : [[board.id, board]])
    },
  })
}
