import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { HandOver } from './hand-over-kind.ts'

export interface ProtectionWatch {
  /** Each time that something lost its budget, by its name. */
  readonly moments: readonly { readonly at: string; readonly names: readonly string[] }[]
  /** How often the watch broke off: what happened then was not seen. */
  readonly interruptions: number
  /** How many changes of budgets were judged. */
  readonly judged: number
  /** Resolves when the first state was judged: what is covered before anything is changed. */
  readonly started: Promise<void>
  stop(): Promise<void>
}

const retryMs = 1_000

/** Judges every change of a budget in the namespace of what is handed over, in the order in which the API server made them. */
export function watchProtection(ports: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly handOver: Pick<HandOver, 'namespace' | 'judge'>
}): ProtectionWatch {
  const { api, clock, handOver } = ports
  const { namespace } = handOver
  const ending = new AbortController()
  const { signal } = ending
  const moments: { readonly at: string; readonly names: readonly string[] }[] = []
  const counts = { interruptions: 0, judged: 0 }
  let covered: ReadonlySet<string> = new Set()
  let start = (): void => undefined
  const judgedOnce = new Promise<void>((resolve) => {
    start = resolve
  })
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
  const started = Promise.race([judgedOnce, running])
  started.catch(() => undefined)

  async function follow(): Promise<void> {
    const { items, resourceVersion } = await api.list(podDisruptionBudgets, { namespace, signal })
    const budgets = new Map(items.map((budget) => [budget.metadata.name, budget]))
    await judge(budgets)
    start()
    for await (const event of api.watch(podDisruptionBudgets, { namespace, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue
      const { name } = event.object.metadata
      if (event.type === 'DELETED') budgets.delete(name)
      else budgets.set(name, event.object)
      await judge(budgets)
    }
  }

  async function judge(budgets: ReadonlyMap<string, PodDisruptionBudget>): Promise<void> {
    const cover = await handOver.judge(covered, budgets.values(), signal)
    covered = cover.covered
    counts.judged += 1
    if (cover.lost.length > 0) moments.push({ at: timestamp(clock), names: cover.lost })
  }

  return {
    moments,
    get interruptions() {
      return counts.interruptions
    },
    get judged() {
      return counts.judged
    },
    started,
    async stop() {
      ending.abort()
      await running.catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    },
  }
}
