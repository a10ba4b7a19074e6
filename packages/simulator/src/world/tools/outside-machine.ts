import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { drainOnce } from '../machines/machine-drain.ts'
import type { PowerSwitch } from '../machines/power-cycle.ts'

export interface OutsideMachinePorts {
  /** Of the workload cluster. */
  readonly api: KubeApi
  readonly clock: Clock
  readonly kubelet: Pick<PowerSwitch, 'powerOff'>
}

export interface OutsideMachineOptions {
  /** `nodeDrainTimeoutSeconds`: after it the machine goes, whatever is left on it. Default: never. */
  readonly drainTimeoutSeconds?: number
  readonly terminateSeconds?: number
}

const drainRetryMs = 20_000

/**
 * Cluster API deletes a Machine that it keeps in another cluster: of all that, the workload cluster sees a cordon, evictions every 20 seconds,
 * a machine that goes silent and a Node that is deleted. Resolves when it is.
 */
export async function deleteOutsideMachine(
  { api, clock, kubelet }: OutsideMachinePorts,
  nodeName: string,
  { drainTimeoutSeconds = Number.POSITIVE_INFINITY, terminateSeconds = 30 }: OutsideMachineOptions = {},
): Promise<void> {
  const endMs = clock.now() + drainTimeoutSeconds * 1_000
  while (clock.now() < endMs && !(await drainOnce(api, nodeName, clock.now()))) await sleep(clock, drainRetryMs)
  kubelet.powerOff(nodeName)
  await sleep(clock, terminateSeconds * 1_000)
  await api.delete(nodes, { name: nodeName }).catch((error: unknown) => {
    if (!hasReason(error, 'NotFound')) throw error
  })
}
