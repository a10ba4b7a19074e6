import {
  type LonghornEngineImage,
  type LonghornNode,
  longhornEngineImages,
  longhornEngines,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type ActorTools, type Views, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { isGoing, letGo, longhornFinalizers } from './finalizer.ts'
import { hashOfName } from './hash-of-name.ts'
import { engineImageSetting } from './longhorn-description.ts'
import { isSameValue } from './same-value.ts'
import type { SettingsReader } from './settings.ts'

export function engineImageName(image: string): string {
  return `ei-${hashOfName(image.trim()).slice(0, 8)}`
}

export function buildEngineImage(image: string, namespace: string): LonghornEngineImage {
  return {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'EngineImage',
    metadata: { name: engineImageName(image), namespace, finalizers: longhornFinalizers },
    spec: { image },
  }
}

/** Whether engines and replicas of the first data engine can start there. */
export function isImageReady(
  { views, namespace }: { readonly views: Views; readonly namespace: string },
  image: string,
  node: string,
): boolean {
  const { state, nodeDeploymentMap = {} } =
    views.of(longhornEngineImages).get(`${namespace}/${engineImageName(image)}`)?.status ?? {}
  return (state === 'deployed' || state === 'deploying') && nodeDeploymentMap[node] === true
}

/**
 * Brings engine images to all nodes: the default one, and every other of which there is an object.
 *
 * Simpler than Longhorn: without a DaemonSet for each; an image is on a node as long as that is up.
 */
export function startEngineImages(ports: {
  readonly tools: ActorTools
  readonly namespace: string
  readonly settings: SettingsReader
  readonly resyncMs: number
}): void {
  const { tools, namespace, settings } = ports
  const images = tools.views.of(longhornEngineImages)
  const ours = tools.views.of(longhornNodes)
  const users = [tools.views.of(longhornVolumes), tools.views.of(longhornEngines), tools.views.of(longhornReplicas)]
  const needs = [images, ours, tools.views.of(longhornSettings), ...users]
  const queue = tools.queue({ needs, work: reconcile, concurrency: 1 })

  async function reconcile(name: string): Promise<void> {
    const image = images.get(`${namespace}/${name}`)
    if (image === undefined) {
      const standard = settings.text(engineImageSetting)
      if (name !== engineImageName(standard)) return
      images.record(await tools.api.create(longhornEngineImages, buildEngineImage(standard, namespace)))
    } else if (isGoing(image)) await letGo(tools, longhornEngineImages, image)
    else await report(image)
  }

  async function report(image: LonghornEngineImage): Promise<void> {
    const nodes = [...ours.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    const isDeployed = nodes.length > 0 && nodes.every(isUp)
    const refCount = countUsers(image.spec?.image ?? '')
    const now = timestamp(tools.clock)
    const status: NonNullable<LonghornEngineImage['status']> = {
      ...image.status,
      ownerID: nodes.find(isUp)?.metadata.name ?? '',
      state: isDeployed ? 'deployed' : 'deploying',
      refCount,
      noRefSince: refCount > 0 ? '' : image.status?.noRefSince || now,
      incompatible: false,
      nodeDeploymentMap: Object.fromEntries(nodes.map((node) => [node.metadata.name, isUp(node)])),
      conditions: withCondition(image.status?.conditions, {
        type: 'ready',
        status: isDeployed ? 'True' : 'False',
        ...(isDeployed ? {} : { reason: 'daemonSet' }),
        lastTransitionTime: now,
      }),
      version: image.spec?.image?.split(':').at(-1) ?? '',
    }
    if (!isSameValue(status, image.status)) await writeStatus(tools, longhornEngineImages, image, status)
  }

  function countUsers(image: string): number {
    let count = 0
    for (const view of users) for (const { spec } of view.values()) if (spec?.image === image) count += 1
    return count
  }

  const enqueueAll = () => {
    queue.add(engineImageName(settings.text(engineImageSetting)))
    for (const { metadata } of images.values()) queue.add(metadata.name)
  }
  tools.onStop(
    ours.subscribe(({ before, after }) => {
      if (before === undefined || after === undefined || isUp(before) !== isUp(after)) enqueueAll()
    }),
  )
  tools.onStop(images.subscribe(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.onStop(
    tools.views.of(longhornSettings).subscribe(({ key }) => {
      if (key === `${namespace}/${engineImageSetting}`) enqueueAll()
    }),
  )
  tools.every(ports.resyncMs, enqueueAll)
}

/** A manager that is down takes no image away, a node that is down does. */
function isUp(node: LonghornNode): boolean {
  const ready = conditionOf(node, 'Ready')
  return ready?.status === 'True' || ready?.reason === 'ManagerPodDown'
}
