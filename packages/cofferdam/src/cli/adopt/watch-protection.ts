import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { configMaps, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { judgeProtection } from '../../capabilities/ceph-drain/domain/protection.ts'
import { parseDrainState, stateMapName } from '../../capabilities/ceph-drain/domain/state-map.ts'

/** A moment in which OSDs that had a budget had none. */
export interface UnprotectedMoment {
  readonly at: string
  readonly osds: readonly string[]
}

export interface ProtectionWatch {
  readonly moments: readonly UnprotectedMoment[]
  /** How often the watch broke off: what happened then was not seen. */
  readonly interruptions: number
  /** How many changes of budgets were judged. */
  readonly judged: number
  stop(): Promise<void>
}

const retryMs = 1_000

/** Judges every change of a budget in the namespace of a cluster, in the order in which the API server made them. */
export function watchProtection(ports: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly namespace: string
}): ProtectionWatch {
  const { api, clock, namespace } = ports
  const ending = new AbortController()
  const { signal } = ending
  const moments: UnprotectedMoment[] = []
  const counts = { interruptions: 0, judged: 0 }
  let covered: ReadonlySet<string> = new Set()
  const running = (async () => {
    while (!signal.aborted) {
      try {
        await follow()
      } catch (error) {
        if (!signal.aborted && hasReason(error, 'Forbidden')) throw error
      }
      if (signal.aborted) return
      counts.interruptions += 1
      await sleep(clock, retryMs, signal)
    }
  })()

  async function follow(): Promise<void> {
    const { items, resourceVersion } = await api.list(podDisruptionBudgets, { namespace, signal })
    const budgets = new Map(items.map((budget) => [budget.metadata.name, budget]))
    await judge(budgets.values())
    for await (const event of api.watch(podDisruptionBudgets, { namespace, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue
      const { name } = event.object.metadata
      if (event.type === 'DELETED') budgets.delete(name)
      else budgets.set(name, event.object)
      await judge(budgets.values())
    }
  }

  async function judge(budgets: Iterable<PodDisruptionBudget>): Promise<void> {
    const [{ items: osdPods }, openDomains] = await Promise.all([
      api.list<Pod>(pods, { namespace, labelSelector: 'app=rook-ceph-osd', signal }),
      readOpenDomains(),
    ])
    const protection = judgeProtection(covered, { osdPods, budgets, openDomains })
    covered = protection.covered
    counts.judged += 1
    if (protection.lost.length > 0) moments.push({ at: timestamp(clock), osds: protection.lost })
  }

  async function readOpenDomains(): Promise<readonly string[]> {
    try {
      const { data } = await api.get(configMaps, { namespace, name: stateMapName }, { signal })
      return parseDrainState(data).openDomains
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      return []
    }
  }

  return {
    moments,
    get interruptions() {
      return counts.interruptions
    },
    get judged() {
      return counts.judged
    },
    async stop() {
      ending.abort()
      await running.catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    },
  }
}
