import type { HandOverDirection, HandOverPlan } from '../../shared/hand-over.ts'
import type { Terminal } from '../terminal.ts'
import { followHandOver } from './follow-hand-over.ts'
import type { HandOver, HandOverPorts } from './hand-over-kind.ts'
import type { HandOverOutcome, HandOverResult } from './hand-over-result.ts'
import { watchProtection } from './watch-protection.ts'

/** Hands it over and judges every change of a budget meanwhile; a dry one only says what it would do. */
export async function handOverNow(
  handOver: HandOver,
  around: HandOverPorts & {
    readonly direction: HandOverDirection
    readonly terminal: Terminal
    readonly isDry: boolean
    /** 0: no limit. */
    readonly timeoutMs: number
  },
): Promise<HandOverResult> {
  const { api, clock, signal, direction, terminal, timeoutMs } = around
  const { object, to } = handOver
  const first = await handOver.plan()
  const result = (outcome: HandOverOutcome, says: string, { checks, changes, pending }: HandOverPlan) =>
    ({ object, direction, to, outcome, says, checks, changes, pending }) as const
  const failed = first.checks.filter(({ state }) => state === 'blocked').length
  if (failed > 0) return result('blocked', `${failed} checks failed; nothing is changed.`, first)
  if (around.isDry) return result('planned', 'nothing is changed by --dry-run.', first)
  const watch = watchProtection({ api, clock, handOver })
  const { plan, ended } = await (async () => {
    try {
      await Promise.race([watch.started, aborted(signal)])
      return await followHandOver(handOver, first, { clock, signal, timeoutMs, terminal })
    } finally {
      await watch.stop()
    }
  })()
  const gaps = watch.moments.length
  const moments = watch.moments.map(({ at, names }) => ({ at, [handOver.protects]: names }))
  const outcome = gaps > 0 && !handOver.isUnprotectedOnPurpose ? 'unprotected' : ended
  const isOver = outcome === 'done' || outcome === 'unprotected'
  // What was done rests on the first checks; what is not done yet may wait for something that has changed since.
  const { checks } = isOver ? first : plan
  return {
    ...result(outcome, saysOf(handOver, outcome, gaps), { ...plan, checks, changes: first.changes }),
    protection: { changesSeen: watch.judged, moments, interruptions: watch.interruptions },
    ...(isOver ? {} : { next: `cofferdam ${handOver.again} continues; ${handOver.shownBy} shows the state` }),
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function saysOf({ doneText, protectsText }: HandOver, outcome: HandOverOutcome, gaps: number): string {
  if (outcome === 'done') return doneText
  if (outcome !== 'unprotected') return 'the operator continues by itself.'
  return `${protectsText} had no budget in ${gaps === 1 ? '1 moment' : `${gaps} moments`}.`
}
