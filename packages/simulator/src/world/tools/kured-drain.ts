import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../actor.ts'

const retryMs = 5_000
const pollMs = 1_000
const mirrorAnnotation = 'kubernetes.io/config.mirror'

export interface KuredDrainOptions {
  /** 0: for ever. */
  readonly timeoutMs: number
  readonly podSelector: string
  /** Whether the process that drains is still there. */
  readonly isAlive: () => boolean
}

/**
 * The drain of kubectl's library as kured calls it: cordon, then evict everything but DaemonSet and mirror pods side by side, again every
 * five seconds while the answer is 429, and wait until they are gone. Resolves with false when the time is over or something else is refused.
 */
export async function drainForKured(tools: ActorTools, node: string, options: KuredDrainOptions): Promise<boolean> {
  const { api, clock } = tools
  const { timeoutMs, podSelector, isAlive } = options
  const endMs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs
  await setCordon(tools, node, true)
  const { items } = await api.list(pods, {
    fieldSelector: `spec.nodeName=${node}`,
    ...(podSelector === '' ? {} : { labelSelector: podSelector }),
  })
  const gone = await Promise.all(items.filter(isDrained).map((pod) => evictUntilGone(pod)))
  return gone.every((isGone) => isGone)

  async function evictUntilGone({ metadata }: Pod): Promise<boolean> {
    const key = { namespace: metadata.namespace ?? '', name: metadata.name }
    for (;;) {
      if (!isAlive()) return false
      try {
        await evictPod(api, key)
        break
      } catch (error) {
        if (hasReason(error, 'NotFound')) return true
        if (!hasReason(error, 'TooManyRequests') || clock.now() + retryMs >= endMs) return false
        await sleep(clock, retryMs)
      }
    }
    while (clock.now() < endMs && isAlive()) {
      const held = await api.get(pods, key).catch(() => undefined)
      if (held?.metadata.uid !== metadata.uid) return true
      await sleep(clock, pollMs)
    }
    return false
  }
}

/** Writes only where it changes something. */
export async function setCordon({ api }: ActorTools, name: string, isCordoned: boolean): Promise<void> {
  const node = await api.get(nodes, { name })
  if ((node.spec?.unschedulable === true) === isCordoned) return
  const body = { spec: { unschedulable: isCordoned || null } }
  await api.patch(nodes, { name }, { type: 'strategic', body })
}

function isDrained(pod: Pod): boolean {
  return controllerOf(pod)?.kind !== 'DaemonSet' && pod.metadata.annotations?.[mirrorAnnotation] === undefined
}
