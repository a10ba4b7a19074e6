import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments, leases, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount, operatorLabels } from '../../deploy/operator-manifests.ts'
import { observeOperator } from '../../observe/observe-operator.ts'

const pollEveryMs = 1_000
const selector = Object.entries(operatorLabels)
  .map(([key, value]) => `${key}=${value}`)
  .join(',')

export interface StopPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly leaseNamespace: string
  readonly deadlineMs: number
  readonly progress: (text: string | undefined) => void
}

/**
 * Scales the operator to none and waits until no process of it writes any more. Returns what still runs when the time is used up;
 * undefined: nothing does.
 *
 * One that runs outside of its Deployment is only waited for: its user has to stop it.
 */
export async function stopOperator(ports: StopPorts): Promise<string | undefined> {
  const { api, clock, signal, leaseNamespace: namespace, deadlineMs, progress } = ports
  const key = { namespace, name: operatorAccount.name }
  await unlessGone(() => api.patch(deployments, key, { type: 'merge', body: { spec: { replicas: 0 } } }, { signal }))
  try {
    for (;;) {
      const running = await observeRunning(ports)
      if (running === undefined) break
      if (clock.now() >= deadlineMs || signal.aborted) return running
      progress(`waiting until ${running} has stopped`)
      await sleep(clock, pollEveryMs, signal)
    }
  } finally {
    progress(undefined)
  }
  await unlessGone(() => api.delete(leases, key, { signal }))
  return undefined
}

async function observeRunning({ api, clock, signal, leaseNamespace: namespace }: StopPorts) {
  const { items } = await api.list(pods, { namespace, labelSelector: selector, signal })
  const [pod] = items
  if (pod !== undefined) return `pod ${namespace}/${pod.metadata.name}`
  const { isRunning, leader } = await observeOperator(
    { api, leaseNamespace: namespace, now: timestamp(clock), signal },
    [],
  )
  return isRunning === false ? undefined : `the operator ${leader ?? ''}`
}

async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}
