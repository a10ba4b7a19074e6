import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../actor.ts'

const retryMs = 5_000
const pollMs = 1_000

type DrainTools = Pick<ActorTools, 'api' | 'clock'>

/**
 * What tools that are built on kubectl's library do with a node that they have cordoned: all pods but those of DaemonSets and of the
 * kubelet itself are evicted side by side; 429 is tried again every five seconds, anything else ends that pod's turn.
 * Returns what kept it from ending in time; undefined: the node is empty.
 */
export async function runNodeDrain(tools: DrainTools, node: string, timeoutMs: number): Promise<string | undefined> {
  const endMs = tools.clock.now() + timeoutMs
  const found = await Promise.all((await podsToLeave(tools, node)).map((pod) => evictUntilGone(tools, pod, endMs)))
  const problems = found.filter((problem) => problem !== undefined)
  return problems.length === 0 ? undefined : problems.join('; ')
}

/** Pods that are to leave a node before it counts as drained. */
export async function podsToLeave({ api }: Pick<ActorTools, 'api'>, node: string): Promise<readonly Pod[]> {
  const { items } = await api.list(pods, { fieldSelector: `spec.nodeName=${node}` })
  return items.filter(
    (pod) =>
      controllerOf(pod)?.kind !== 'DaemonSet' &&
      pod.metadata.annotations?.['kubernetes.io/config.mirror'] === undefined,
  )
}

export async function setCordon({ api }: Pick<ActorTools, 'api'>, node: Node, isCordoned: boolean): Promise<void> {
  if ((node.spec?.unschedulable === true) === isCordoned) return
  const body = { spec: { unschedulable: isCordoned || null } }
  await api.patch(nodes, { name: node.metadata.name }, { type: 'merge', body })
}

async function evictUntilGone(
  { api, clock }: DrainTools,
  { metadata }: Pod,
  endMs: number,
): Promise<string | undefined> {
  const { namespace = '', name, uid } = metadata
  const inTime = async (ms: number) => {
    const isLate = clock.now() + ms > endMs
    await sleep(clock, isLate ? Math.max(0, endMs - clock.now()) : ms)
    return !isLate
  }
  for (;;) {
    try {
      await evictPod(api, { namespace, name })
      break
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      const why = `error when evicting pod ${namespace}/${name}`
      if (!hasReason(error, 'TooManyRequests')) return `${why}: ${(error as Error).message}`
      if (!(await inTime(retryMs))) return `${why}: global timeout reached`
    }
  }
  for (;;) {
    const held = await api.get(pods, { namespace, name }).catch(() => undefined)
    if (held?.metadata.uid !== uid) return undefined
    if (!(await inTime(pollMs))) return `error when waiting for pod ${namespace}/${name}: global timeout reached`
  }
}
