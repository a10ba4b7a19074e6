import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../actor.ts'

const retryMs = 5_000
const pollMs = 1_000

type DrainTools = Pick<ActorTools, 'api' | 'clock'>

/** How many milliseconds after the beginning a pod is asked for; kubectl asks for all within a moment. */
export type EvictionPace = (pod: Pod) => number

export interface NodeDrainOptions {
  /** Absent: for ever. */
  readonly timeoutMs?: number
  /** Of labels; pods beside it stay. */
  readonly podSelector?: string
  readonly pace?: EvictionPace
  /** Whether the process that drains is still there. */
  readonly isAlive?: () => boolean
  /** Called when a pod is refused with 429 for the first time. */
  readonly onWait?: (pod: Pod, refusal: unknown) => void
  /** Called when a pod is refused for another reason, while the others are still on their way. */
  readonly onRefused?: (refusal: unknown) => void
}

/**
 * What `kubectl drain --ignore-daemonsets` and the tools that are built on its library do with a node that is closed already: all pods but
 * those of DaemonSets and of the kubelet itself are evicted side by side, by name; 429 is tried again every five seconds, anything else
 * ends that pod's turn; then it waits until they are gone. Returns what kept it from ending; undefined: the node is empty.
 */
export async function runNodeDrain(
  tools: DrainTools,
  node: string,
  options: NodeDrainOptions = {},
): Promise<string | undefined> {
  const { clock } = tools
  const { timeoutMs = Number.POSITIVE_INFINITY, podSelector, pace = () => 0 } = options
  const endMs = clock.now() + timeoutMs
  const evict = async (pod: Pod) => {
    const afterMs = pace(pod)
    if (afterMs > 0) await sleep(clock, afterMs)
    return evictUntilGone(tools, pod, endMs, options)
  }
  const found = await Promise.all((await podsToLeave(tools, node, podSelector)).map(evict))
  const problems = found.filter((problem) => problem !== undefined)
  return problems.length === 0 ? undefined : problems.join('; ')
}

/** Pods that are to leave a node before it counts as drained. */
export async function podsToLeave(
  { api }: Pick<ActorTools, 'api'>,
  node: string,
  labelSelector = '',
): Promise<readonly Pod[]> {
  const { items } = await api.list(pods, {
    fieldSelector: `spec.nodeName=${node}`,
    ...(labelSelector === '' ? {} : { labelSelector }),
  })
  return items.filter(
    (pod) =>
      controllerOf(pod)?.kind !== 'DaemonSet' &&
      pod.metadata.annotations?.['kubernetes.io/config.mirror'] === undefined,
  )
}

/** Writes only where it changes something. */
export async function setCordon({ api }: Pick<ActorTools, 'api'>, name: string, isCordoned: boolean): Promise<void> {
  const node = await api.get(nodes, { name })
  if ((node.spec?.unschedulable === true) === isCordoned) return
  const body = { spec: { unschedulable: isCordoned || null } }
  await api.patch(nodes, { name }, { type: 'strategic', body })
}

async function evictUntilGone(
  { api, clock }: DrainTools,
  pod: Pod,
  endMs: number,
  { isAlive = () => true, onWait, onRefused }: NodeDrainOptions,
): Promise<string | undefined> {
  const { namespace = '', name, uid } = pod.metadata
  const inTime = async (ms: number) => {
    const isLate = clock.now() + ms > endMs
    await sleep(clock, isLate ? Math.max(0, endMs - clock.now()) : ms)
    return !isLate
  }
  for (let refusals = 0; ; refusals += 1) {
    const why = `error when evicting pod ${namespace}/${name}`
    if (!isAlive()) return `${why}: killed`
    try {
      await evictPod(api, { namespace, name })
      break
    } catch (error) {
      // Any 404 is taken for a pod that is gone, also the one of a budget that went in the middle of an eviction.
      if (hasReason(error, 'NotFound')) return undefined
      if (!hasReason(error, 'TooManyRequests')) {
        onRefused?.(error)
        return `${why}: ${(error as Error).message}`
      }
      if (refusals === 0) onWait?.(pod, error)
      if (!(await inTime(retryMs))) return `${why}: global timeout reached`
    }
  }
  for (;;) {
    const why = `error when waiting for pod ${namespace}/${name}`
    if (!isAlive()) return `${why}: killed`
    const held = await api.get(pods, { namespace, name }).catch(() => undefined)
    if (held?.metadata.uid !== uid) return undefined
    if (!(await inTime(pollMs))) return `${why}: global timeout reached`
  }
}
