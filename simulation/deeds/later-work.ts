import { longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodeMaintenances } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { deployments, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { drainPolicies } from '@cofferdam/simulator/world/longhorn/drain-policies.ts'
import { machineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { shop } from '../oracle/watch-apps.ts'
import { between, type ClusterShape, oneOf, type Tool } from '../story.ts'
import { meddle, mendLater, run } from './crush-faults.ts'
import { always, type DeedKind, type DeedPorts, withCeph, withLonghorn } from './deed-kind.ts'

const withTool =
  (tool: Tool) =>
  ({ tools = [] }: ClusterShape) =>
    tools.includes(tool)

/** Nobody waits longer than this for a maintenance to begin. */
const patienceMs = 10 * 60_000
const pollMs = 5_000
/** A new version of an application takes its pods one after the other, whatever its budget says. */
const rolloutMs = 5 * 60_000

function askFor({ stage }: DeedPorts, nodeName: string, name: string): Promise<NodeDisruption> {
  return stage.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec: { nodeName, intent: 'Reboot', honourSkipDrain: true, force: true, deleteEmptyDirData: true },
  })
}

/** What owners, administrators and tools do in clusters that have more of everything. */
export const laterWork: Readonly<Record<string, DeedKind>> = {
  'two people ask for two nodes at the same moment': {
    fits: always,
    async apply(ports) {
      const { stage, random, number, tell } = ports
      const first = oneOf(random, stage.shape.nodes)
      const second = oneOf(
        random,
        stage.shape.nodes.filter((name) => name !== first),
      )
      tell(`two people ask for a reboot, of ${first} and of ${second}`)
      await Promise.all([first, second].map((name, index) => askFor(ports, name, `request-${number}-${index + 1}`)))
    },
  },
  'a request that is withdrawn': {
    fits: always,
    async apply(ports) {
      const { stage, random, number, tell } = ports
      const nodeName = oneOf(random, stage.shape.nodes)
      const name = `request-${number}`
      const afterMs = between(random, 1, 90) * 1_000
      tell(`somebody asks for a reboot of ${nodeName}, and takes that back after ${afterMs / 1_000} s`)
      await askFor(ports, nodeName, name)
      await sleep(stage.clock, afterMs)
      await stage.api.delete(nodeDisruptions, { name })
    },
  },
  'an application is rolled out': {
    fits: ({ apps }) => apps.length > 0,
    async apply({ stage, random, number, tell, excuses }) {
      const name = oneOf(random, stage.shape.apps)
      tell(`a new version of ${name} is rolled out`)
      excuses.meddled(`app ${name}`, rolloutMs)
      const annotations = { 'kubectl.kubernetes.io/restartedAt': String(number) }
      const template = { metadata: { annotations } }
      // No node has room for one more.
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
      const key = { namespace: shop, name }
      await Promise.allSettled([
        stage.api.patch(deployments, key, { type: 'merge', body: { spec: { template, strategy } } }),
        stage.api.patch(statefulSets, key, { type: 'merge', body: { spec: { template } } }),
      ])
    },
  },
  'an OSD is marked out by hand, and in again': {
    fits: withCeph,
    async apply(ports) {
      const { stage, random, tell } = ports
      const id = String(oneOf(random, stage.shape.osds))
      tell(`an admin marks osd.${id} out`)
      meddle(ports)
      mendLater(ports, () => {
        meddle(ports)
        return run(ports, { prefix: 'osd in', ids: [id] })
      })
      await run(ports, { prefix: 'osd out', ids: [id] })
    },
  },
  'Longhorn gets another drain policy': {
    fits: withLonghorn,
    async apply({ stage, random, tell }) {
      const namespace = stage.description.longhorn?.namespace ?? ''
      const value = oneOf(random, drainPolicies)
      tell(`an admin chooses the policy ${value}`)
      await stage.api.patch(
        longhornSettings,
        { namespace, name: drainPolicySetting },
        { type: 'merge', body: { value } },
      )
    },
  },
  'a machine is deleted, and its set makes another': {
    fits: ({ hasMachines }) => hasMachines,
    async apply({ stage, random, tell }) {
      const { api, description, clock } = stage
      if (description.machines === undefined || description.machines.api === 'none') return
      const { machines, namespace } = machineKinds(description.machines.api)
      const { items } = await api.list(machines, { namespace })
      const running = items.filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && status?.nodeRef !== undefined,
      )
      if (running.length === 0) return
      const { name } = oneOf(random, running).metadata
      const isDrainedFirst = random.next() < 0.6
      tell(`the machine ${name} is deleted${isDrainedFirst ? ', and to be drained first' : ''}`)
      if (isDrainedFirst) {
        const body = { metadata: { labels: { 'cofferdam.io/drain-before-delete': 'true' } } }
        await api.patch(machines, { namespace, name }, { type: 'merge', body })
        await sleep(clock, 10_000)
      }
      await api.delete(machines, { namespace, name })
    },
  },
  'a node is put into maintenance, and taken out of it': {
    fits: withTool('node-maintenance'),
    async apply({ stage, random, number, tell, atHome, isHome }) {
      const nodeName = oneOf(random, stage.shape.nodes)
      const key = { name: `maintenance-${number}` }
      const isRebooted = random.next() < 0.5
      const endMs = stage.clock.now() + patienceMs
      const phase = () => stage.views.of(nodeMaintenances).get(key.name)?.status?.phase
      tell(`somebody puts ${nodeName} into maintenance`)
      atHome(() => stage.api.delete(nodeMaintenances, key).catch(() => undefined))
      await stage.maintenances?.maintain(nodeName, 'new disks', key.name)
      while (phase() !== 'Succeeded' && stage.clock.now() < endMs && !isHome()) await sleep(stage.clock, pollMs)
      if (phase() === 'Succeeded' && isRebooted && stage.world.kubelet.isOn(nodeName)) {
        tell(`${nodeName} is rebooted in its maintenance`)
        stage.world.kubelet.reboot(nodeName, between(random, 20, 90))
      }
      await sleep(stage.clock, between(random, 5, 60) * 1_000)
      await stage.api.delete(nodeMaintenances, key).catch(() => undefined)
    },
  },
  'nodes are to get another machine configuration': {
    fits: withTool('machine-config'),
    async apply({ stage, number, tell }) {
      tell('all nodes are to get another machine configuration')
      await stage.machineConfigs?.update(`config-${number}`)
    },
  },
}
