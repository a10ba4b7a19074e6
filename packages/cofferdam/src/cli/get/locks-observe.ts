import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import { summarizeLocks } from '../../capabilities/drain-lock/view/summarize-locks.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { observeOrphans } from '../status/observe-orphans.ts'

export interface Locks {
  /** Locks of owners, holds of requests, and what vanished holders left. */
  readonly locks: readonly HoldAnswer[]
  /** Requests that may take locks and holds from others now. */
  readonly breakGlass: readonly ({ readonly request: string; readonly node: string } & NonNullable<
    DisruptionAnswer['breakGlass']
  >)[]
  readonly observedAt: string
  readonly notSeen: readonly string[]
}

export async function observeLockList(question: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Only what is in this namespace; undefined: everything. */
  readonly namespace: string | undefined
}): Promise<Locks> {
  const { api, clock, namespace, signal } = question
  const notSeen: string[] = []
  const scope = namespace === undefined ? {} : { namespace }
  const budgets = await ifAllowed('poddisruptionbudgets', notSeen, () =>
    api.list(podDisruptionBudgets, { ...scope, signal }),
  )
  const holds = await observeHolds(question, budgets?.items ?? [], notSeen)
  const orphans = await observeOrphans({ api, notSeen, signal }, holds)
  return {
    locks: summarizeLocks(holds, orphans).filter((lock) => isWithin(lock, namespace)),
    breakGlass: holds.disruptions.flatMap(({ request, node, breakGlass }) =>
      breakGlass === undefined || Date.parse(breakGlass.until) <= clock.now() ? [] : [{ request, node, ...breakGlass }],
    ),
    observedAt: timestamp(clock),
    notSeen: [...new Set(notSeen)],
  }
}

/** Whether a lock is in this namespace; undefined: everything is. */
export function isWithin({ key }: Pick<HoldAnswer, 'key'>, namespace: string | undefined): boolean {
  return namespace === undefined || key.startsWith(`pdb/${namespace}/`)
}
