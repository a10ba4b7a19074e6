import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  machineConfigAnnotations as annotations,
  type MachineConfigPool,
  machineConfigPools,
} from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { customResourceDefinitions, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { machineConfigPoolDefinition } from '@cofferdam/simulator/cluster-file/maintenance-definitions.ts'
import type { RestartedActor, Views } from '@cofferdam/simulator/world/actor.ts'
import type { Kubelet } from '@cofferdam/simulator/world/nodes/kubelet.ts'
import { annotationOf } from '@cofferdam/simulator/world/tools/annotation-of.ts'
import { createMachineConfigOperator } from '@cofferdam/simulator/world/tools/machine-config.ts'

export interface MachineConfigs extends RestartedActor {
  /** All nodes of the pool are to get this configuration. */
  update(config: string): Promise<void>
  change(body: JsonObject): Promise<void>
  pool(): MachineConfigPool
  /** Whether it is paused, and by whom as far as that is noted: `paused by cofferdam`, `paused`, `lifted`, or nothing. */
  pause(): string
  /** Whether it has begun with this node, and is not done. */
  isUpdating(node: Node): boolean
  /** Of every node `node-1 Done two`: the state and the configuration that it has. */
  states(): string[]
}

/** The one pool that there is. */
export const poolOfAllNodes = 'worker'

const role = 'node-role.kubernetes.io/worker'

/** OpenShift's operator in a cluster that has none yet, with one pool of workers: all nodes. */
export async function openMachineConfigs(
  ports: {
    readonly api: KubeApi
    readonly clock: Clock
    readonly views: Views
    readonly kubelet: Pick<Kubelet, 'reboot'>
  },
  { isManaged = true }: { readonly isManaged?: boolean } = {},
): Promise<MachineConfigs> {
  const { api, views } = ports
  await api.create(customResourceDefinitions, machineConfigPoolDefinition())
  const first = { [annotations.currentConfig]: 'one', [annotations.desiredConfig]: 'one', [annotations.state]: 'Done' }
  const body = { metadata: { labels: { [role]: '' }, annotations: first } }
  for (const { metadata } of (await api.list(nodes)).items) {
    await api.patch(nodes, { name: metadata.name }, { type: 'merge', body })
  }
  await api.create(machineConfigPools, {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name: poolOfAllNodes, ...(isManaged ? { annotations: { 'cofferdam.io/manage-pause': 'true' } } : {}) },
    spec: { nodeSelector: { matchLabels: { [role]: '' } }, configuration: { name: 'one' } },
  } as MachineConfigPool)
  const operator = createMachineConfigOperator(ports, { isRebootless: (config) => config === 'keys' })
  const change = async (body: JsonObject) => {
    await api.patch(machineConfigPools, { name: poolOfAllNodes }, { type: 'merge', body })
  }
  const pool = () => views.of(machineConfigPools).get(poolOfAllNodes) as MachineConfigPool
  return {
    ...operator,
    update: (config) => change({ spec: { configuration: { name: config } } }),
    change,
    pool,
    pause() {
      const note = pool().metadata.annotations?.['cofferdam.io/paused-by']
      const isLifted = note?.includes('lifted') === true
      if (pool().spec?.paused !== true) return isLifted ? 'lifted' : ''
      return note === undefined ? 'paused' : 'paused by cofferdam'
    },
    isUpdating: (node) => annotationOf(node, 'state') !== 'Done',
    states: () =>
      [...views.of(nodes).values()]
        .map((node) => `${node.metadata.name} ${annotationOf(node, 'state')} ${annotationOf(node, 'currentConfig')}`)
        .sort(),
  }
}
