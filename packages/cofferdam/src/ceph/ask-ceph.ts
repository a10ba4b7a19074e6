import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import type { CephAnswer, CephCommand, CephCommands } from './ceph-commands.ts'
import { parseJsonText } from './json-shape.ts'

export interface AskOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** An answer that is a success. A Ceph that does not answer, or that refuses, is unknown; bugs travel. */
export async function askCephAnswer(
  commands: CephCommands,
  command: CephCommand,
  options: AskOptions = {},
): Promise<Observed<CephAnswer>> {
  return withoutSilence(async () => {
    const answer = await commands.run(command, options)
    if (answer.code === 0) return known(answer)
    const words = answer.err.trim()
    return unknown(`${command.prefix} ended with ${answer.code}${words === '' ? '' : `: ${words}`}`)
  })
}

/** What the command printed. */
export async function askCephText(
  commands: CephCommands,
  command: CephCommand,
  options: AskOptions = {},
): Promise<Observed<string>> {
  const answer = await askCephAnswer(commands, command, options)
  return answer.known ? known(answer.value.out) : answer
}

export async function askCeph<T>(
  commands: CephCommands,
  command: CephCommand,
  parse: (json: unknown) => Observed<T>,
  options: AskOptions = {},
): Promise<Observed<T>> {
  const text = await askCephText(commands, command, options)
  if (!text.known) return text
  const json = parseJsonText(command.prefix, text.value)
  return json.known ? parse(json.value) : json
}

export async function withoutSilence<T>(ask: () => Promise<Observed<T>>): Promise<Observed<T>> {
  try {
    return await ask()
  } catch (error) {
    if (hasCode(error, 'CEPH_UNREACHABLE')) return unknown(error.message)
    throw error
  }
}
