import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type DisruptionAnswer, explainDisruption } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { harmlessData, harmlessText } from '../../shared/harmless-text.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { Terminal } from '../terminal.ts'
import { progressLine, progressLines } from './drain-progress.ts'

export interface Followed {
  /** As it was seen last. */
  readonly answer: DisruptionAnswer
  readonly ended: 'reached' | 'gone' | 'timed-out' | 'interrupted'
}

export interface FollowOptions {
  readonly api: Pick<KubeApi, 'get'>
  readonly clock: Clock
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly isReached: (answer: DisruptionAnswer) => boolean
}

const pollEveryMs = 1_000

/** Polls a request until it reaches the wanted state, and prints what happens meanwhile. */
export async function followDisruption(first: NodeDisruption, options: FollowOptions): Promise<Followed> {
  const { clock, terminal, signal, timeoutMs, isReached } = options
  const deadline = clock.now() + timeoutMs
  let before: DisruptionAnswer | undefined
  let seen: NodeDisruption = first
  let isSilent = false
  try {
    for (;;) {
      const answer = explainDisruption(seen)
      const shown = harmlessData(answer)
      const at = timestamp(clock)
      for (const line of progressLines(before, shown, { paint: terminal.paint, at })) terminal.note(line)
      before = shown
      if (isReached(answer)) return { answer, ended: 'reached' }
      if (signal.aborted) return { answer, ended: 'interrupted' }
      if (clock.now() >= deadline) return { answer, ended: 'timed-out' }
      terminal.progress(progressLine(shown, at))
      await sleep(clock, Math.min(pollEveryMs, deadline - clock.now()), signal)
      try {
        const next = await options.api.get(nodeDisruptions, { name: first.metadata.name })
        if (next.metadata.uid !== first.metadata.uid) return { answer, ended: 'gone' }
        seen = next
        isSilent = false
      } catch (error) {
        if (hasReason(error, 'NotFound')) return { answer, ended: 'gone' }
        if (!(error instanceof CofferdamError) || error.retry === 'never') throw error
        if (!isSilent) terminal.note(`${harmlessText(error.message)}; the request continues, and it is read again`)
        isSilent = true
      }
    }
  } finally {
    terminal.progress(undefined)
  }
}
