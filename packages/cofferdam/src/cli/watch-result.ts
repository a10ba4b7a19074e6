import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Command } from 'commander'
import type { Invocation } from './command.ts'
import { renderError } from './error-text.ts'

export interface WatchFlags {
  readonly watch?: boolean
}

/** How often it is read again. */
const everyMs = 2_000

export function addWatchFlag(command: Command): Command {
  return command.option('-w, --watch', 'show it again whenever it has changed, until Ctrl-C')
}

/**
 * Reads again and again until the user ends it, and draws what has changed. When it was read is no change. A server that does not answer is
 * reported once, and asked again.
 */
export async function watchResult<Result extends { readonly observedAt: string }>(
  { redraw, terminal, signal }: Pick<Invocation, 'redraw' | 'terminal' | 'signal'>,
  { clock, observe }: { readonly clock: Clock; readonly observe: () => Promise<Result> },
): Promise<undefined> {
  let drawn: string | undefined
  let failure: string | undefined
  while (!signal.aborted) {
    try {
      const result = await observe()
      const content = JSON.stringify({ ...result, observedAt: '' })
      if (content !== drawn) redraw(result)
      drawn = content
      failure = undefined
    } catch (error) {
      if (signal.aborted) return undefined
      if (!(error instanceof CofferdamError) || error.retry === 'never' || drawn === undefined) throw error
      const text = renderError(error, { paint: terminal.paint, withStack: false })
      if (text !== failure) terminal.note(text)
      failure = text
    }
    await sleep(clock, everyMs, signal)
  }
  return undefined
}
