import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'

export interface DrainerPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly tell: (line: string) => void
}

export interface Drain {
  readonly isOver: () => boolean
  /** Rejects as kubectl gives up: on any refusal but 429. */
  readonly ended: Promise<void>
}

/** How many milliseconds after the cordon a pod is asked for; kubectl asks for all within a moment. */
export type EvictionPace = (pod: Pod) => number

const retryAfterMs = 5_000
const pollEveryMs = 1_000

/**
 * What `kubectl drain --ignore-daemonsets` does: cordon, evict all pods side by side, try again every five seconds where
 * a budget refuses, give up on any other refusal, wait for the pods to go.
 */
export function startDrain(ports: DrainerPorts, node: string, pace: EvictionPace = () => 0): Drain {
  const cordon = { type: 'merge', body: { spec: { unschedulable: true } } } as const
  return started(ports.api.patch(nodes, { name: node }, cordon).then(() => evictAll(ports, node, pace)))
}

/** The same on a node that is closed already, as Karpenter and the cluster autoscaler do after their taint: nothing is cordoned. */
export function startEmptying(ports: DrainerPorts, node: string): Drain {
  return started(evictAll(ports, node, () => 0))
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

async function evictAll(ports: DrainerPorts, node: string, pace: EvictionPace): Promise<void> {
  const { api, clock, tell } = ports
  const { items } = await api.list(pods, { fieldSelector: `spec.nodeName=${node}` })
  const leaving = items.filter((pod) => controllerOf(pod)?.kind !== 'DaemonSet')
  const evict = async (pod: Pod) => {
    const afterMs = pace(pod)
    if (afterMs > 0) await sleep(clock, afterMs)
    await evictUntilGone(ports, pod)
  }
  await Promise.all(leaving.map(evict))
  tell(`the drain of ${node} is over`)
}

async function evictUntilGone({ api, clock, tell }: DrainerPorts, pod: Pod): Promise<void> {
  const { metadata } = pod
  const key = { namespace: metadata.namespace ?? '', name: metadata.name }
  for (let refusals = 0; ; refusals += 1) {
    try {
      await evictPod(api, { ...key, ...(metadata.uid === undefined ? {} : { uid: metadata.uid }) })
      break
    } catch (error) {
      // kubectl takes any 404 for a pod that is gone, also the one of a budget that went in the middle of an eviction.
      if (hasReason(error, 'NotFound')) return
      if (!hasReason(error, 'TooManyRequests')) throw error
      if (refusals === 0) tell(`${daemonName(pod)} has to wait: ${holderOf(error)}`)
      await sleep(clock, retryAfterMs)
    }
  }
  for (;;) {
    const held = await api.get(pods, key).catch(() => undefined)
    if (held?.metadata.uid !== metadata.uid) return
    await sleep(clock, pollEveryMs)
  }
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
