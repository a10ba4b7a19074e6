import { type Observed, unknown } from '../domain/observed.ts'
import { hasCode } from '../errors.ts'
import type { CephCommand, CephCommands } from './ceph-commands.ts'
import { parseJsonText } from './json-shape.ts'

export interface AskOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** What the command printed. A Ceph that does not answer, or that refuses, is unknown; bugs travel. */
export async function askCephText(
  commands: CephCommands,
  command: CephCommand,
  options: AskOptions = {},
): Promise<Observed<string>> {
  return withoutSilence(async () => {
    const { code, out, err } = await commands.run(command, options)
    if (code === 0) return { known: true, value: out }
    return unknown(`${command.prefix} ended with ${code}${err.trim() === '' ? '' : `: ${err.trim()}`}`)
  })
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
