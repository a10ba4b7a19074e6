import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import {
  longhornNamespace,
  longhornNodes,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { daemonSets, deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { type ActorPorts, openStage, Views } from '../actor.ts'
import { createTimers } from '../ceph/timers.ts'
import { createControllerCaches } from './controller-caches.ts'
import { buildCsiDeployments } from './csi-deployments.ts'
import { DataPlane } from './data-plane.ts'
import { startEvictionTickets } from './eviction-tickets.ts'
import { startInstanceManagers } from './instance-managers.ts'
import { createLonghornControls, type LonghornControls } from './longhorn-controls.ts'
import { defaultImage, defaultSettings, defaultTimings, type LonghornDescription } from './longhorn-description.ts'
import { buildManagerDaemonSet } from './manager-daemon-set.ts'
import { startNodeStatus } from './node-status.ts'
import { startOwnBudgets } from './own-budgets.ts'
import { startOwnCsiBudgets } from './own-csi-budgets.ts'
import { startOwnEvictions } from './own-evictions.ts'
import { ProcessHosts } from './process-hosts.ts'
import { createSettingsReader } from './settings.ts'
import { startVolumes } from './volume-controller.ts'
import { buildVolume } from './volume-objects.ts'
import { bytesPerBlock } from './volume-report.ts'
import { startWorkloadTickets } from './workload-tickets.ts'

export interface SimulatedLonghornPorts extends ActorPorts {
  /** Whether a machine has power, as `Kubelet.isOn` tells. Without it a loss shows when the API shows it. */
  readonly isOn?: (node: string) => boolean
}

export interface SimulatedLonghorn {
  readonly controls: LonghornControls
  stop(): void
}

/**
 * A Longhorn that lives on the objects of a cluster: attaches volumes, rebuilds and moves replicas that hold real bytes.
 * It decides no drain: who asks for evictions and keeps the budgets is somebody else, unless it is told to.
 *
 * Guarantees: the same clock, chance and objects give the same history; a stopped one leaves no timer and no watch.
 */
export function createSimulatedLonghorn(
  ports: SimulatedLonghornPorts,
  description: LonghornDescription = {},
): SimulatedLonghorn {
  const { clock, random = realRandom, isOn } = ports
  const namespace = description.namespace ?? longhornNamespace
  const timings = { ...defaultTimings, ...description.timings }
  const timers = createTimers(clock)
  const views = ports.views ?? new Views(ports)
  const shared = { ...ports, random, views }
  const caches = createControllerCaches(shared, description)
  const stage = openStage('longhorn', shared)
  const volumeView = views.of(longhornVolumes)
  const shape = { count: description.blocks?.count ?? 64, blockBytes: description.blocks?.bytes ?? 4_096 }
  const brokenDisks = new Set<string>()
  const withoutManager = new Set<string>()
  let image = description.image ?? defaultImage
  let rate = timings.rebuildBytesPerSecond
  let isDelta = false

  const blockBytesOf = (volume: string) =>
    bytesPerBlock(volumeView.get(`${namespace}/${volume}`), description.blocks?.count)
  const data = new DataPlane({
    timers,
    random: random.stream('longhorn-data'),
    shape,
    ioTimeoutMs: timings.ioTimeoutMs,
    isDelta: () => isDelta,
    rate: () => rate,
    bytesPerBlock: blockBytesOf,
    onChange: (volume) => volumes.look(volume),
  })
  const hosts = new ProcessHosts({
    stage,
    namespace,
    ...(isOn === undefined ? {} : { isOn }),
    onLost: (manager) => data.loseInstanceManager(manager),
    onChange: (_manager, node) => {
      // The first news comes while the rest is still being built.
      timers.after(1, () => {
        managers.look(node)
        volumes.lookAtAll()
      })
    },
  })
  const { resyncMs, notReadyGraceMs } = timings
  const stages = {
    node: openStage('longhorn-node-controller', caches.portsFor('node')),
    manager: openStage('longhorn-instance-manager-controller', caches.portsFor('instance-manager')),
    attachment: openStage('longhorn-volume-attachment-controller', caches.portsFor('attachment')),
    eviction: openStage('longhorn-volume-eviction-controller', caches.portsFor('eviction')),
    volume: openStage('longhorn-volume-controller', caches.portsFor('volume')),
  }
  const settingsOf = (one: { readonly views: Views }) => createSettingsReader(one.views, namespace)
  const placing = (one: { readonly views: Views }) => ({
    views: one.views,
    namespace,
    settings: settingsOf(one),
    image: () => image,
  })

  const nodeStatus = startNodeStatus({
    stage: stages.node,
    namespace,
    description,
    data,
    settings: settingsOf(stages.node),
    brokenDisks,
    bytesPerBlock: blockBytesOf,
    notReadyGraceMs,
    withoutManager,
    resyncMs,
  })
  const managers = startInstanceManagers({
    stage: stages.manager,
    namespace,
    data,
    hosts,
    image: () => image,
    dataEngines: description.dataEngines ?? ['v1'],
    resyncMs,
  })
  const workloads = startWorkloadTickets({
    stage: stages.attachment,
    namespace,
    description,
    settings: settingsOf(stages.attachment),
    resyncMs,
  })
  const { attachForEviction: attachTo = 'owner' } = description
  if (attachTo !== 'nobody') {
    startEvictionTickets({ ...placing(stages.eviction), stage: stages.eviction, resyncMs, attachTo })
  }
  const volumes = startVolumes({
    ...placing(stages.volume),
    stage: stages.volume,
    description,
    timings,
    data,
    hosts,
    podsUsing: workloads.podsUsing,
    onLooked(nodes) {
      for (const node of new Set(nodes)) if (node !== '') managers.look(node)
    },
  })
  if (description.ownDrainHandling === true) {
    const hasManager = (node: string) => !withoutManager.has(node) && hosts.isReachable(node)
    startOwnEvictions({ ...placing(stages.node), stage: stages.node, resyncMs, hasManager })
    startOwnBudgets({ ...placing(stages.manager), stage: stages.manager, resyncMs })
    startOwnCsiBudgets({ stage: stages.manager, namespace })
  }
  void seed().catch((error: unknown) => stage.fail('seed', error))

  async function seed(): Promise<void> {
    const settings = { ...defaultSettings, ...description.settings }
    for (const [name, value] of Object.entries(settings)) {
      if (value === null) continue
      const object = { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata: { name, namespace }, value }
      await unlessThere(stage.api.create(longhornSettings, object))
    }
    if (description.ownDrainHandling === true) {
      await unlessThere(stage.api.create(daemonSets, buildManagerDaemonSet(namespace)))
    }
    for (const deployment of description.csi === false ? [] : buildCsiDeployments(namespace)) {
      await unlessThere(stage.api.create(deployments, deployment))
    }
    for (const volume of description.volumes ?? []) {
      await unlessThere(stage.api.create(longhornVolumes, buildVolume(volume, namespace)))
    }
  }

  return {
    controls: createLonghornControls({
      stage,
      namespace,
      data,
      brokenDisks,
      withoutManager,
      random: random.stream('longhorn-controls'),
      shape,
      lookAtVolume: volumes.look,
      lookAtNode: nodeStatus.look,
      setRate(bytesPerSecond) {
        rate = bytesPerSecond
      },
      setImage(next) {
        image = next
        for (const { metadata } of stages.manager.views.of(longhornNodes).values()) managers.look(metadata.name)
      },
      setDelta(on) {
        isDelta = on
      },
    }),
    stop() {
      for (const one of Object.values(stages)) one.stop()
      caches.stop()
      stage.stop()
      data.stop()
      timers.stop()
      if (ports.views === undefined) views.stop()
    },
  }
}

async function unlessThere(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!hasReason(error, 'AlreadyExists')) throw error
  })
}
