import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornNode,
  longhornInstanceManagers,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorTools, writeStatus } from '../actor.ts'
import { isLinkedClone } from './linked-clone.ts'
import { hasProtectedCopyElsewhere, type ProtectionPorts } from './protected-replicas.ts'
import type { SettingsReader } from './settings.ts'

export interface OwnDrainPorts extends ProtectionPorts {
  readonly tools: ActorTools
  readonly settings: SettingsReader
  readonly resyncMs: number
  /** Whether Longhorn's manager runs on that node: nothing else manages its flags. */
  readonly hasManager: (node: string) => boolean
}

interface Verdict {
  readonly isRequested: boolean
  readonly event: 'EvictionAutomatic' | 'EvictionUserRequested' | 'EvictionCanceled' | 'KubernetesNodeNotReady'
}

const downReasons = new Set(['KubernetesNodeGone', 'KubernetesNodeNotReady'])

/** What Longhorn's controller of nodes does by itself: rewrites the flags of all replicas on a node, at every reconcile. */
export function startOwnEvictions(ports: OwnDrainPorts): void {
  const { tools, namespace, settings } = ports
  const kubeNodes = tools.views.of(nodes)
  const ours = tools.views.of(longhornNodes)
  const replicas = tools.views.of(longhornReplicas)
  const managers = tools.views.of(longhornInstanceManagers)
  const budgets = tools.views.of(podDisruptionBudgets)
  const volumes = tools.views.of(longhornVolumes)
  const queue = tools.queue({ needs: [kubeNodes, ours, replicas, volumes, managers, budgets], work: reconcile })

  async function reconcile(name: string): Promise<void> {
    const node = ours.get(`${namespace}/${name}`)
    const kubeNode = kubeNodes.get(name)
    if (node === undefined || kubeNode === undefined || !ports.hasManager(name)) return
    let isAutoEvicting = false
    let conflict: unknown
    for (const [disk, { evictionRequested }] of Object.entries(node.spec?.disks ?? {})) {
      const isAsked = node.spec?.evictionRequested === true || evictionRequested === true
      const { scheduledReplica = {}, diskUUID = '' } = node.status?.diskStatus?.[disk] ?? {}
      for (const replica of Object.keys(scheduledReplica).sort()) {
        try {
          const isEvicting = await write(replica, { node, kubeNode, isAsked, diskUUID })
          if (isEvicting && !isAsked) isAutoEvicting = true
        } catch (error) {
          if (!hasReason(error, 'Conflict')) throw error
          conflict = error
        }
      }
    }
    if (conflict !== undefined) throw conflict
    const latest = ours.get(`${namespace}/${name}`)
    if (latest?.status === undefined || latest.status.autoEvicting === isAutoEvicting) return
    await writeStatus(tools, longhornNodes, latest, { ...latest.status, autoEvicting: isAutoEvicting })
  }

  async function write(
    name: string,
    { node, kubeNode, isAsked, diskUUID }: { node: LonghornNode; kubeNode: Node; isAsked: boolean; diskUUID: string },
  ): Promise<boolean> {
    const replica = replicas.get(`${namespace}/${name}`)
    if (replica === undefined) return false
    const volume = replica.spec?.volumeName ?? ''
    const { isRequested, event } = judge({ node, kubeNode, isAsked, volume })
    const { evictionRequested: isFlagged = false } = replica.spec ?? {}
    if (isFlagged === isRequested || isLinkedClone(volumes.get(`${namespace}/${volume}`))) return isFlagged
    const spec = { ...replica.spec, evictionRequested: isRequested }
    replicas.record(await tools.api.update(longhornReplicas, { ...replica, spec }))
    const where = `replica ${name} from node ${node.metadata.name} and disk ${diskUUID}`
    tools.recorder.record(replica, 'Normal', event, `${isRequested ? 'Requesting' : 'Cancelling'} eviction of ${where}`)
    return isRequested
  }

  function judge(facts: { node: LonghornNode; kubeNode: Node; isAsked: boolean; volume: string }): Verdict {
    const { node, kubeNode, isAsked, volume } = facts
    const ready = conditionOf(node, 'Ready')
    if (ready?.status === 'False' && downReasons.has(ready.reason ?? ''))
      return { isRequested: false, event: 'KubernetesNodeNotReady' }
    if (isAsked) return { isRequested: true, event: 'EvictionUserRequested' }
    const policy = settings.text('node-drain-policy')
    const isMoving =
      kubeNode.spec?.unschedulable === true &&
      (policy === 'block-for-eviction' ||
        (policy === 'block-for-eviction-if-contains-last-replica' &&
          !hasProtectedCopyElsewhere(ports, volume, node.metadata.name)))
    return { isRequested: isMoving, event: isMoving ? 'EvictionAutomatic' : 'EvictionCanceled' }
  }

  const enqueueAll = () => {
    for (const { metadata } of ours.values()) queue.add(metadata.name)
  }
  tools.onStop(kubeNodes.subscribe(({ key }) => queue.add(key)))
  tools.onStop(ours.subscribe(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.onStop(replicas.subscribe(({ before, after }) => queue.add((after ?? before)?.spec?.nodeID ?? '')))
  tools.onStop(
    tools.views.of(longhornSettings).subscribe(({ key }) => {
      if (key === `${namespace}/node-drain-policy`) enqueueAll()
    }),
  )
  tools.every(ports.resyncMs, enqueueAll)
}
