import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { HandOverPlan } from '../../shared/hand-over.ts'
import type { Terminal } from '../terminal.ts'
import type { HandOver } from './hand-over-kind.ts'

const pollEveryMs = 1_000
/** Both sides have to leave it as it is for so long. */
const settledMs = 5_000

export interface Followed {
  /** The last one. */
  readonly plan: HandOverPlan
  readonly ended: 'done' | 'timed-out' | 'interrupted'
}

/**
 * Writes what the plan asks for, and waits until nothing is missing and stays so.
 *
 * Guarantees: every write rests on what was read just before; what another client changed meanwhile is read again, and planned again.
 */
export async function followHandOver(
  handOver: HandOver,
  first: HandOverPlan,
  ports: {
    readonly clock: Clock
    readonly terminal: Terminal
    readonly signal: AbortSignal
    /** 0: no limit. */
    readonly timeoutMs: number
  },
): Promise<Followed> {
  const { clock, terminal, signal } = ports
  const deadline = ports.timeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.now() + ports.timeoutMs
  let plan = first
  let doneSinceMs: number | undefined
  let shown = ''
  try {
    for (;;) {
      if (signal.aborted) return { plan, ended: 'interrupted' }
      await write(plan)
      const isDone = plan.patch === undefined && plan.pending.length === 0
      doneSinceMs = isDone ? (doneSinceMs ?? clock.now()) : undefined
      if (doneSinceMs !== undefined && clock.now() - doneSinceMs >= settledMs) return { plan, ended: 'done' }
      if (clock.now() >= deadline) return { plan, ended: 'timed-out' }
      const missing = plan.pending[0] ?? 'waiting until both operators leave it as it is'
      if (missing !== shown) terminal.progress(missing)
      shown = missing
      await sleep(clock, pollEveryMs, signal)
      if (signal.aborted) return { plan, ended: 'interrupted' }
      plan = await handOver.plan()
    }
  } finally {
    terminal.progress(undefined)
  }

  async function write({ patch, changes, checks }: HandOverPlan): Promise<void> {
    if (patch === undefined) return
    for (const { what, says } of checks.filter(({ state }) => state === 'warning')) {
      terminal.note(`${handOver.object}: warning: ${what}: ${says}`)
    }
    try {
      await handOver.write(patch)
    } catch (error) {
      if (!hasReason(error, 'Conflict')) throw error
      return
    }
    for (const change of changes) terminal.note(`${handOver.object}: ${change}`)
  }
}
