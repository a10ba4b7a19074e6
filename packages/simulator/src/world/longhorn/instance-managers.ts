import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornDataEngine,
  type LonghornInstanceManager,
  longhornInstanceManagers,
  longhornNodes,
  longhornSettings,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorTools, deleteExactly, writeStatus } from '../actor.ts'
import { isFinished, isRunningAndReady, isTerminating } from '../pod-facts.ts'
import { controllerReference } from '../workloads/owned-pods.ts'
import type { DataPlane } from './data-plane.ts'
import { type InstanceManagerPlace, instanceManagerLabels, instanceManagerName } from './instance-manager-name.ts'
import { managerImageSetting } from './longhorn-description.ts'
import type { ProcessHosts } from './process-hosts.ts'
import { isSameValue } from './same-value.ts'
import { engineName } from './volume-objects.ts'

export interface InstanceManagersPorts {
  readonly tools: ActorTools
  readonly namespace: string
  readonly data: DataPlane
  readonly hosts: ProcessHosts
  /** The image for everything that starts from now on. */
  readonly image: () => string
  readonly dataEngines: readonly LonghornDataEngine[]
  readonly resyncMs: number
}

type State = NonNullable<NonNullable<LonghornInstanceManager['status']>['currentState']>

/**
 * One instance manager per node, image and data engine, and its pod.
 *
 * Guarantees: a pod that is gone is not made again while its node is cordoned or down; an instance manager of an image
 * that nobody uses any more goes once nothing runs in it.
 */
export function startInstanceManagers(ports: InstanceManagersPorts): { readonly enqueue: (node: string) => void } {
  const { tools, namespace, data, hosts, dataEngines } = ports
  const nodeView = tools.views.of(nodes)
  const podView = tools.views.of(pods)
  const ours = tools.views.of(longhornNodes)
  const managers = tools.views.of(longhornInstanceManagers)
  const onNode = managers.indexBy('node', ({ spec }) => [spec?.nodeID ?? ''])
  const settings = tools.views.of(longhornSettings)
  const queue = tools.queue({ needs: [nodeView, podView, ours, managers, settings], work: reconcile })

  async function reconcile(node: string): Promise<void> {
    if (ours.get(`${namespace}/${node}`) === undefined) return
    const places = dataEngines.map((dataEngine) => ({ node, image: ports.image(), dataEngine }))
    for (const place of places) {
      const name = instanceManagerName(place)
      if (managers.get(`${namespace}/${name}`) === undefined) await createManager(place)
    }
    const wanted = new Set(places.map(instanceManagerName))
    for (const manager of [...onNode(node)].sort(byName)) await keep(manager, wanted.has(manager.metadata.name))
  }

  async function createManager(place: InstanceManagerPlace): Promise<void> {
    const { node: nodeID, image, dataEngine } = place
    const created = await tools.api.create(longhornInstanceManagers, {
      apiVersion: 'longhorn.io/v1beta2',
      kind: 'InstanceManager',
      metadata: { name: instanceManagerName(place), namespace, labels: instanceManagerLabels(place) },
      spec: { nodeID, image, type: 'aio', dataEngine },
    })
    managers.record(created)
  }

  async function keep(manager: LonghornInstanceManager, isWanted: boolean): Promise<void> {
    const { name } = manager.metadata
    const node = nodeView.get(manager.spec?.nodeID ?? '')
    const pod = podView.get(`${namespace}/${name}`)
    const isEmpty = data.enginesIn(name).length === 0 && data.replicasIn(name).length === 0
    if (!isWanted && isEmpty) {
      if (pod !== undefined) await deleteExactly(tools, pods, pod)
      await deleteExactly(tools, longhornInstanceManagers, manager)
      return
    }
    if (pod !== undefined && isFinished(pod) && !isTerminating(pod)) await deleteExactly(tools, pods, pod)
    const isDown = isNodeDown(manager.spec?.nodeID ?? '')
    if (pod === undefined && node !== undefined && node.spec?.unschedulable !== true && !isDown)
      await createPod(manager)
    await report(manager, stateOf(pod, isDown))
  }

  function isNodeDown(node: string): boolean {
    const ready = conditionOf(ours.get(`${namespace}/${node}`) ?? {}, 'Ready')
    return ready?.status === 'False' && (ready.reason ?? '').startsWith('KubernetesNode')
  }

  async function createPod(manager: LonghornInstanceManager): Promise<void> {
    const { nodeID: node = '', image = '', dataEngine = 'v1' } = manager.spec ?? {}
    const labels = instanceManagerLabels({ node, image, dataEngine })
    const created = await tools.api.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: manager.metadata.name,
        namespace,
        labels,
        ownerReferences: [controllerReference(manager, longhornInstanceManagers)],
      },
      spec: {
        nodeName: node,
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 5,
        containers: [{ name: 'instance-manager', image }],
        tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }],
      },
    })
    podView.record(created)
  }

  async function report(manager: LonghornInstanceManager, currentState: State): Promise<void> {
    const { name } = manager.metadata
    const { nodeID: ownerID = '', dataEngine } = manager.spec ?? {}
    const running = (process: string, type: 'engine' | 'replica') =>
      [
        process,
        { spec: { name: process, dataEngine: dataEngine ?? 'v1' }, status: { state: 'running', type } },
      ] as const
    const status = {
      ...manager.status,
      ownerID,
      currentState,
      instanceEngines: Object.fromEntries(data.enginesIn(name).map((volume) => running(engineName(volume), 'engine'))),
      instanceReplicas: Object.fromEntries(data.replicasIn(name).map((replica) => running(replica, 'replica'))),
    }
    if (isSameValue(status, manager.status)) return
    await writeStatus(tools, longhornInstanceManagers, manager, status)
  }

  function stateOf(pod: Pod | undefined, isDown: boolean): State {
    if (isDown) return 'unknown'
    if (pod === undefined || isTerminating(pod)) return 'stopped'
    if (isFinished(pod)) return 'error'
    return isRunningAndReady(pod) && hosts.isAlive(pod.metadata.name) ? 'running' : 'starting'
  }

  const enqueueAll = () => {
    for (const node of ours.values()) queue.add(node.metadata.name)
  }
  tools.onStop(ours.subscribe(({ after, before }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.onStop(nodeView.subscribe(({ key, before, after }) => void (isRelevant(before, after) && queue.add(key))))
  tools.onStop(managers.subscribe(({ before, after }) => queue.add((after ?? before)?.spec?.nodeID ?? '')))
  tools.onStop(
    settings.subscribe(({ key }) => {
      if (key === `${namespace}/${managerImageSetting}`) enqueueAll()
    }),
  )
  tools.every(ports.resyncMs, enqueueAll)
  return { enqueue: (node) => queue.add(node) }
}

/** Heartbeats change nothing here. */
function isRelevant(before: Node | undefined, after: Node | undefined): boolean {
  return (
    before?.spec !== after?.spec ||
    before?.metadata.uid !== after?.metadata.uid ||
    conditionOf(before ?? {}, 'Ready')?.status !== conditionOf(after ?? {}, 'Ready')?.status
  )
}

function byName(a: LonghornInstanceManager, b: LonghornInstanceManager): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}
