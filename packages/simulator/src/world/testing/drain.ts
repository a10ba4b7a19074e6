import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Scenario } from './scenario.ts'

/** What `kubectl drain --ignore-daemonsets` does: cordon, evict, try again every five seconds, wait for pods to go. */
export async function drainNode(scenario: Scenario, name: string): Promise<void> {
  await scenario.api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } })
  const { items } = await scenario.api.list(pods, { fieldSelector: `spec.nodeName=${name}` })
  const leaving = items.filter((pod) => controllerOf(pod)?.kind !== 'DaemonSet')
  await Promise.all(leaving.map((pod) => evictUntilGone(scenario, pod)))
}

async function evictUntilGone({ api, clock }: Scenario, { metadata }: Pod): Promise<void> {
  const key = { namespace: metadata.namespace as string, name: metadata.name }
  for (;;) {
    try {
      await evictPod(api, key)
      break
    } catch (error) {
      if (hasReason(error, 'NotFound')) return
      if (!hasReason(error, 'TooManyRequests')) throw error
      await sleep(clock, 5_000)
    }
  }
  for (;;) {
    const held = await api.get(pods, key).catch(() => undefined)
    if (held?.metadata.uid !== metadata.uid) return
    await sleep(clock, 1_000)
  }
}
