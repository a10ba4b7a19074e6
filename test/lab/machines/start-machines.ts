import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { errorText } from '@cofferdam/product/operator/log.ts'
import type { ContainerRuntime, RunningContainer } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import { createKubelet, type Kubelet, type KubeletOptions } from '@cofferdam/simulator/world/nodes/kubelet.ts'
import type { Journal } from '../processes/journal.ts'

export interface MachinesOptions extends KubeletOptions {
  readonly api: KubeApi
  readonly runtime: ContainerRuntime
  readonly journal: Journal
}

export interface Machines extends Omit<Kubelet, 'stop'> {
  /** Takes the machines away: their kubelets end, and what still runs on them is killed. Resolves when all is gone. */
  stop(): Promise<void>
}

/** A kubelet for every node of a cluster, in real time. */
export function startMachines({ api, runtime, journal, ...options }: MachinesOptions): Machines {
  const running = new Set<RunningContainer>()
  let isStopped = false
  const kubelet = createKubelet({
    api,
    clock: realClock,
    onFailure: ({ actor, key, error }) => {
      if (!isStopped) journal.tell(actor, `${key}: ${errorText(error)}`)
    },
    ...options,
    runtime: {
      start(pod) {
        const container = runtime.start(pod)
        if (container === undefined) return undefined
        running.add(container)
        const forget = () => running.delete(container)
        container.ended.then(forget, forget)
        return container
      },
    },
  })
  return {
    ...kubelet,
    async stop() {
      isStopped = true
      kubelet.stop()
      for (const container of running) container.kill()
      await Promise.allSettled(Array.from(running, ({ ended }) => ended))
    },
  }
}
