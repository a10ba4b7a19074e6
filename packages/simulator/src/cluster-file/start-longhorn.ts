import {
  longhornInstanceManagers,
  longhornReplicas,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornControls } from '../world/longhorn/longhorn-controls.ts'
import { createSimulatedLonghorn } from '../world/longhorn/simulated-longhorn.ts'
import type { World } from '../world/start-world.ts'
import { buildLonghornDescription } from './build-longhorn.ts'
import type { LonghornClusterDescription } from './describe-longhorn.ts'
import { judgeLonghornReadiness } from './longhorn-readiness.ts'

export interface RunningLonghorn {
  readonly controls: LonghornControls
  /** What is missing until its volumes are whole and guarded, in words. */
  observeMissing(): Promise<string[]>
  stop(): void
}

interface LonghornPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly world: World
  /** Whether a node that comes later gets a disk and an instance manager, as where its manager runs on all nodes. */
  readonly joinsNewNodes?: boolean
}

/** The simulated Longhorn behind the objects of a cluster. Assumes: they are there, see `seedLonghorn`. */
export function startLonghorn(longhorn: LonghornClusterDescription, ports: LonghornPorts): RunningLonghorn {
  const { api, clock, random, world, joinsNewNodes = false } = ports
  const { views, kubelet } = world
  const isOn = (node: string) => kubelet.isOn(node)
  const { nodes, ...everywhere } = buildLonghornDescription(longhorn)
  const described = { ...everywhere, ...(!joinsNewNodes && nodes && { nodes }) }
  const simulated = createSimulatedLonghorn({ api, clock, random, views, isOn }, described)
  const { namespace } = longhorn
  return {
    controls: simulated.controls,
    async observeMissing() {
      const [managers, volumes, replicas, budgets] = await Promise.all([
        api.list(longhornInstanceManagers, { namespace }),
        api.list(longhornVolumes, { namespace }),
        api.list(longhornReplicas, { namespace }),
        api.list(podDisruptionBudgets, { namespace }),
      ])
      return judgeLonghornReadiness(longhorn, {
        managers: managers.items,
        volumes: volumes.items,
        replicas: replicas.items,
        budgets: budgets.items,
      })
    },
    stop: () => simulated.stop(),
  }
}
