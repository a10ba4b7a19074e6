import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type EvictionPace, runNodeDrain, setCordon } from '@cofferdam/simulator/world/tools/kubectl-drain.ts'

export interface DrainerPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly tell: (line: string) => void
}

export interface Drain {
  readonly isOver: () => boolean
  /** Rejects at the first refusal that is not 429: from then on kubectl can only fail. */
  readonly ended: Promise<void>
}

/** What `kubectl drain --ignore-daemonsets` does, without a time limit: cordon, and empty. */
export function startDrain(ports: DrainerPorts, node: string, pace?: EvictionPace): Drain {
  return started(setCordon(ports, node, true).then(() => empty(ports, node, pace)))
}

/** The same on a node that is closed already, as Karpenter and the cluster autoscaler do after their taint: nothing is cordoned. */
export function startEmptying(ports: DrainerPorts, node: string): Drain {
  return started(empty(ports, node))
}

function started(drain: Promise<void>): Drain {
  let over = false
  const ended = drain.finally(() => {
    over = true
  })
  // Whoever started it looks at it later; until then a refusal must not count as unhandled.
  ended.catch(() => {})
  return { isOver: () => over, ended }
}

async function empty(ports: DrainerPorts, node: string, pace: EvictionPace = () => 0): Promise<void> {
  const { tell } = ports
  await new Promise<void>((resolve, reject) => {
    const onWait = (pod: Pod, refusal: unknown) => tell(`${daemonName(pod)} has to wait: ${holderOf(refusal)}`)
    runNodeDrain(ports, node, { pace, onWait, onRefused: reject }).then(() => resolve(), reject)
  })
  tell(`the drain of ${node} is over`)
}

/** `osd.0`, `mon.a`; the name of the workload for other pods. */
export function daemonName({ metadata }: Pod): string {
  const { ceph_daemon_type: type, ceph_daemon_id: id, app } = metadata.labels ?? {}
  return type === undefined ? (app ?? metadata.name) : `${type}.${id}`
}

function holderOf(error: unknown): string {
  const causes = error instanceof ApiError ? error.details?.causes : undefined
  const message = causes?.map((cause) => cause.message).join('; ')
  return message ?? (error as Error).message
}
