import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import type { CephAnswer, CephCommand, CephCommands } from './ceph-commands.ts'
import { parseJsonText } from './json-shape.ts'
import { rememberParsed } from './remember-parsed.ts'

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

/** What the command printed, parsed as JSON of this shape. */
export async function askCeph<T>(
  commands: CephCommands,
  command: CephCommand,
  parse: (json: unknown) => Observed<T>,
  options: AskOptions = {},
): Promise<Observed<T>> {
  const text = await askCephText(commands, command, options)
  return text.known ? jsonParserOf(command.prefix, parse)(text.value) : text
}

type TextParser<T> = (text: string) => Observed<T>

/** By parser, then by command: each remembers what it read last. */
const jsonParsers = new WeakMap<object, Map<string, unknown>>()

function jsonParserOf<T>(prefix: string, parse: (json: unknown) => Observed<T>): TextParser<T> {
  const byCommand = jsonParsers.get(parse) ?? new Map<string, unknown>()
  jsonParsers.set(parse, byCommand)
  const made = byCommand.get(prefix) as TextParser<T> | undefined
  if (made !== undefined) return made
  const parser = rememberParsed((text) => {
    const json = parseJsonText(prefix, text)
    return json.known ? parse(json.value) : json
  })
  byCommand.set(prefix, parser)
  return parser
}

export async function withoutSilence<T>(ask: () => Promise<Observed<T>>): Promise<Observed<T>> {
  try {
    return await ask()
  } catch (error) {
    if (hasCode(error, 'CEPH_UNREACHABLE')) return unknown(error.message)
    throw error
  }
}
