import type { KubeObject } from '../api/kube-object.ts'
import {
  longhornEngines,
  longhornInstanceManagers,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '../api/longhorn.ts'
import { nodeDisruptions } from '../api/node-disruption.ts'
import type { ResourceType } from '../api/resource-type.ts'
import { daemonSets, nodes, podDisruptionBudgets, pods } from '../api/resources.ts'
import { persistentVolumes, storageClasses } from '../api/storage.ts'
import { asDecided } from '../domain/explain/longhorn-view.ts'
import { createLonghornJudge } from '../domain/longhorn-drain/judge.ts'
import { longhornManagerSelector } from '../domain/longhorn-drain/longhorn-manager.ts'
import { createLonghornParser } from '../domain/longhorn-drain/parse-longhorn.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import { createOptionalCache } from '../kube/optional-cache.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
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
