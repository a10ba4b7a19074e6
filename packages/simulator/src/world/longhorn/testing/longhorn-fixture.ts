import {
  type LonghornNode,
  type LonghornReplica,
  type LonghornSetting,
  type LonghornVolume,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions, namespaces, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EmbeddedApi } from '../../../api-server/embedded-api.ts'
import { longhornDefinitions } from '../../../cluster-file/longhorn-definitions.ts'
import type { World } from '../../start-world.ts'
import { openWorld, type Scenario } from '../../testing/scenario.ts'
import type { LonghornDescription } from '../longhorn-description.ts'
import { createSimulatedLonghorn, type SimulatedLonghorn } from '../simulated-longhorn.ts'

export interface LonghornFixture extends Scenario {
  readonly world: World
  readonly longhorn: SimulatedLonghorn
  readonly controls: SimulatedLonghorn['controls']
  readonly volume: (name: string) => Promise<LonghornVolume>
  readonly node: (name: string) => Promise<LonghornNode>
  /** In the order of their names. */
  readonly replicasOf: (volume: string) => Promise<readonly LonghornReplica[]>
  /** Nodes of a volume's replicas, sorted. */
  readonly placesOf: (volume: string) => Promise<string[]>
  readonly cordon: (node: string, on?: boolean) => Promise<void>
  /** What an operator does: raises or lowers the flag on every replica of that node. */
  readonly requestEviction: (node: string, on?: boolean) => Promise<void>
  readonly evictInstanceManagers: (node: string) => Promise<void>
  readonly setting: (name: string, value: string) => Promise<void>
  /** Looks once a second, until it is so. Throws when it never is. */
  readonly until: (isSo: () => Promise<boolean> | boolean, seconds?: number) => Promise<number>
}

export interface LonghornFixtureOptions {
  readonly seed?: number
  readonly nodeCount?: number
  /** Longhorn's kinds; default: those of the simulator. */
  readonly definitions?: readonly KubeObject[]
  /** What Longhorn itself reads and writes through. */
  readonly change?: (api: EmbeddedApi) => KubeApi
}

/** A living cluster with Longhorn on all of its nodes. */
export async function openLonghorn(
  description: LonghornDescription = {},
  { seed = 1, nodeCount = 3, definitions = longhornDefinitions(), change = (api) => api }: LonghornFixtureOptions = {},
): Promise<LonghornFixture> {
  const scenario = await openWorld({ seed, nodeCount })
  const { api, clock, random, world, failures, seconds } = scenario
  const { namespace = longhornNamespace } = description
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  for (const definition of definitions) await api.create(customResourceDefinitions, definition)
  const longhorn = createSimulatedLonghorn(
    { api: change(api), clock, random, isOn: world.kubelet.isOn, onFailure: (failure) => failures.push(failure) },
    description,
  )
  await seconds(30)
  const replicasOf = async (volume: string) =>
    (await api.list(longhornReplicas, { namespace })).items.filter(({ spec }) => spec?.volumeName === volume)
  return {
    ...scenario,
    longhorn,
    controls: longhorn.controls,
    volume: (name) => api.get(longhornVolumes, { namespace, name }),
    node: (name) => api.get(longhornNodes, { namespace, name }),
    replicasOf,
    placesOf: async (volume) => (await replicasOf(volume)).map(({ spec }) => spec?.nodeID ?? '').sort(),
    async cordon(node, on = true) {
      await api.patch(nodes, { name: node }, { type: 'merge', body: { spec: { unschedulable: on ? true : null } } })
    },
    async requestEviction(node, on = true) {
      const { items } = await api.list(longhornReplicas, { namespace, labelSelector: `longhornnode=${node}` })
      for (const { metadata } of items) {
        const body = { spec: { evictionRequested: on } }
        await api.patch(longhornReplicas, { namespace, name: metadata.name }, { type: 'merge', body })
      }
    },
    async evictInstanceManagers(node) {
      const labelSelector = `longhorn.io/component=instance-manager,longhorn.io/node=${node}`
      const { items } = await api.list(pods, { namespace, labelSelector })
      for (const { metadata } of items) await evictPod(api, { namespace, name: metadata.name })
    },
    async setting(name, value) {
      const body: Partial<LonghornSetting> = { value }
      await api.patch(longhornSettings, { namespace, name }, { type: 'merge', body: { ...body } as { value: string } })
    },
    async until(isSo, limit = 300) {
      for (let second = 0; second <= limit; second += 1) {
        if (await isSo()) return second
        await seconds(1)
      }
      throw new Error(`it was not so within ${limit} s`)
    },
    stop() {
      longhorn.stop()
      scenario.stop()
    },
  }
}
