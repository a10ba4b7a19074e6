import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { StandingRequest } from '../../uninstall/snapshot.ts'

const pollEveryMs = 1_000
/** A node that never comes back would keep its request, and everything else, for good. */
const longestWaitMs = 60_000

/** Deletes requests and lets the operator release what they hold; what it has not ended in time goes with the marks. */
export async function endRequests(
  ports: {
    readonly api: KubeApi
    readonly clock: Clock
    readonly signal: AbortSignal
    readonly deadlineMs: number
    readonly progress: (text: string | undefined) => void
  },
  requests: readonly StandingRequest[],
): Promise<void> {
  const { api, clock, signal, progress } = ports
  const untilMs = Math.min(ports.deadlineMs, clock.now() + longestWaitMs)
  const names = new Set(requests.map(({ name }) => name))
  for (const name of names) {
    try {
      await api.delete(nodeDisruptions, { name }, { signal })
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }
  try {
    while (clock.now() < untilMs && !signal.aborted) {
      const { items } = await api.list(nodeDisruptions, { signal })
      const left = items.find(({ metadata }) => names.has(metadata.name))
      if (left === undefined) return
      progress(`waiting until nodedisruption/${left.metadata.name} has ended`)
      await sleep(clock, pollEveryMs, signal)
    }
  } finally {
    progress(undefined)
  }
}
