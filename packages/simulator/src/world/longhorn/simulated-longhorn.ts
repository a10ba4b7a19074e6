import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { longhornNamespace, longhornSettings, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { daemonSets, deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { type ActorPorts, openTools, Views } from '../actor.ts'
import { createTimers } from '../ceph/timers.ts'
import { createControllerCaches } from './controller-caches.ts'
import { buildCsiDeployments } from './csi-deployments.ts'
import { DataPlane } from './data-plane.ts'
import { startEngineImages } from './engine-images.ts'
import { startEvictionTickets } from './eviction-tickets.ts'
import { startInstanceManagers } from './instance-managers.ts'
import { createLonghornControls, type LonghornControls } from './longhorn-controls.ts'
import {
  defaultImage,
  defaultSettings,
  defaultTimings,
  firstSettings,
  type LonghornDescription,
  managerImageSetting,
} from './longhorn-description.ts'
import { buildManagerDaemonSet } from './manager-daemon-set.ts'
import { startNodeStatus } from './node-status.ts'
import { startOwnBudgets } from './own-budgets.ts'
import { startOwnCsiBudgets } from './own-csi-budgets.ts'
import { startOwnEvictions } from './own-evictions.ts'
import { ProcessHosts } from './process-hosts.ts'
import { startSettingStatus } from './setting-status.ts'
import { createSettingsReader } from './settings.ts'
import { startVolumes } from './volume-controller.ts'
import { buildVolume } from './volume-objects.ts'
import type { VolumeProcesses } from './volume-processes.ts'
import { bytesPerBlock } from './volume-report.ts'
import { startWorkloadTickets } from './workload-tickets.ts'

export interface SimulatedLonghornPorts extends ActorPorts {
  /** Whether a machine has power, as `Kubelet.isOn` says. Without it a loss shows when the API shows it. */
  readonly isOn?: (node: string) => boolean
  readonly processes?: VolumeProcesses
}

export interface SimulatedLonghorn {
  readonly controls: LonghornControls
  stop(): void
}

/**
 * A Longhorn that lives on the objects of a cluster: attaches volumes, rebuilds and moves replicas that hold real bytes.
 * It decides no drain: who asks for evictions and keeps the budgets is somebody else, unless it is configured to.
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
  const tools = openTools('longhorn', shared)
  const volumeView = views.of(longhornVolumes)
  const shape = { count: description.blocks?.count ?? 64, blockBytes: description.blocks?.bytes ?? 4_096 }
  const brokenDisks = new Set<string>()
  const withoutManager = new Set<string>()
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
    onChange: (volume) => volumes.enqueue(volume),
    ...(ports.processes === undefined ? {} : { processes: ports.processes }),
  })
  const hosts = new ProcessHosts({
    tools,
    namespace,
    ...(isOn === undefined ? {} : { isOn }),
    onLost: (manager) => data.loseInstanceManager(manager),
    onChange: (_manager, node) => {
      // The first notification comes while the rest is still being built.
      timers.after(1, () => {
        managers.enqueue(node)
        volumes.enqueueAll()
      })
    },
  })
  const { resyncMs, notReadyGraceMs } = timings
  const toolsOf = {
    node: openTools('longhorn-node-controller', caches.portsFor('node')),
    manager: openTools('longhorn-instance-manager-controller', caches.portsFor('instance-manager')),
    attachment: openTools('longhorn-volume-attachment-controller', caches.portsFor('attachment')),
    eviction: openTools('longhorn-volume-eviction-controller', caches.portsFor('eviction')),
    volume: openTools('longhorn-volume-controller', caches.portsFor('volume')),
  }
  const defaults = { ...defaultSettings, [managerImageSetting]: description.image ?? defaultImage }
  const settingsOf = (one: { readonly views: Views }) => createSettingsReader(one.views, { namespace, defaults })
  const placing = (one: { readonly views: Views }) => {
    const settings = settingsOf(one)
    return { views: one.views, namespace, settings, image: () => settings.text(managerImageSetting) }
  }

  const nodeStatus = startNodeStatus({
    tools: toolsOf.node,
    namespace,
    description,
    data,
    settings: settingsOf(toolsOf.node),
    brokenDisks,
    bytesPerBlock: blockBytesOf,
    notReadyGraceMs,
    withoutManager,
    resyncMs,
  })
  startSettingStatus({ tools, namespace })
  startEngineImages({ tools: toolsOf.node, namespace, settings: settingsOf(toolsOf.node), resyncMs })
  const managers = startInstanceManagers({
    ...placing(toolsOf.manager),
    tools: toolsOf.manager,
    data,
    hosts,
    dataEngines: description.dataEngines ?? ['v1'],
    resyncMs,
  })
  const workloads = startWorkloadTickets({
    tools: toolsOf.attachment,
    namespace,
    description,
    settings: settingsOf(toolsOf.attachment),
    resyncMs,
  })
  const { attachForEviction: attachTo = 'owner' } = description
  if (attachTo !== 'nobody') {
    startEvictionTickets({ ...placing(toolsOf.eviction), tools: toolsOf.eviction, resyncMs, attachTo })
  }
  const volumes = startVolumes({
    ...placing(toolsOf.volume),
    tools: toolsOf.volume,
    description,
    timings,
    data,
    hosts,
    podsUsing: workloads.podsUsing,
    onReconciled(nodes) {
      for (const node of new Set(nodes)) if (node !== '') managers.enqueue(node)
    },
  })
  if (description.ownDrainHandling === true) {
    const hasManager = (node: string) => !withoutManager.has(node) && hosts.isReachable(node)
    startOwnEvictions({ ...placing(toolsOf.node), tools: toolsOf.node, resyncMs, hasManager })
    startOwnBudgets({ ...placing(toolsOf.manager), tools: toolsOf.manager, resyncMs })
    startOwnCsiBudgets({ tools: toolsOf.manager, namespace })
  }
  void seed().catch((error: unknown) => tools.fail('seed', error))

  async function seed(): Promise<void> {
    const settings = firstSettings(description)
    for (const [name, value] of Object.entries(settings)) {
      if (value === null) continue
      const object = { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata: { name, namespace }, value }
      await unlessThere(tools.api.create(longhornSettings, object))
    }
    if (description.ownDrainHandling === true) {
      await unlessThere(tools.api.create(daemonSets, buildManagerDaemonSet(namespace)))
    }
    for (const deployment of description.csi === false ? [] : buildCsiDeployments(namespace)) {
      await unlessThere(tools.api.create(deployments, deployment))
    }
    for (const volume of description.volumes ?? []) {
      await unlessThere(tools.api.create(longhornVolumes, buildVolume(volume, { namespace, settings })))
    }
  }

  return {
    controls: createLonghornControls({
      tools,
      namespace,
      data,
      brokenDisks,
      withoutManager,
      random: random.stream('longhorn-controls'),
      shape,
      enqueueVolume: volumes.enqueue,
      enqueueNode: nodeStatus.enqueue,
      setRate(bytesPerSecond) {
        rate = bytesPerSecond
      },
      setDelta(on) {
        isDelta = on
      },
    }),
    stop() {
      for (const one of Object.values(toolsOf)) one.stop()
      caches.stop()
      tools.stop()
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
