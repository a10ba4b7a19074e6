import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { CephAnswer, CephCommand, CephCommands } from './ceph-commands.ts'

export interface ProgramEnd {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The names of the arguments after a command; the last one takes all that are left. */
const argumentNames: Readonly<Record<string, readonly string[]>> = {
  status: [],
  health: ['detail'],
  quorum_status: [],
  versions: [],
  'mgr stat': [],
  'osd dump': [],
  'osd stat': [],
  'osd ls': [],
  'osd tree': ['states'],
  'osd versions': [],
  'osd crush dump': [],
  'osd crush rule dump': [],
  'osd crush rule ls': [],
  'osd erasure-code-profile get': ['name'],
  'osd metadata': ['id'],
  'osd find': ['id'],
  'osd pool ls': ['detail'],
  'osd ok-to-stop': ['ids'],
  'osd safe-to-destroy': ['ids'],
  'osd ok-to-upgrade': ['crush_bucket', 'ceph_version', 'max'],
  'osd set': ['key'],
  'osd unset': ['key'],
  'osd set-group': ['flags', 'who'],
  'osd unset-group': ['flags', 'who'],
  'osd out': ['ids'],
  'osd in': ['ids'],
  'pg dump': ['dumpcontents'],
  'pg stat': [],
}
/** A simulated Ceph needs no address and no key. */
const ignoredOptions = new Set([
  '--conf',
  '-c',
  '--mon-host',
  '-m',
  '--name',
  '-n',
  '--keyring',
  '-k',
  '--keyfile',
  '--id',
])
const errnoNames: Readonly<Record<number, string>> = { 2: 'ENOENT', 13: 'EACCES', 16: 'EBUSY', 22: 'EINVAL' }
const notFoundCode = 127

/** What a shell in the toolbox pod can run: the `ceph` program, in front of the simulated Ceph. */
export async function runToolboxProgram(
  commands: CephCommands,
  [program = '', ...words]: readonly string[],
  signal?: AbortSignal,
): Promise<ProgramEnd> {
  if (program !== 'ceph')
    return { code: notFoundCode, out: '', err: `exec: "${program}": executable file not found in $PATH\n` }
  const parsed = parseWords(words)
  if ('problem' in parsed) return { code: 22, out: '', err: `Error EINVAL: ${parsed.problem}\n` }
  const { command, timeoutMs } = parsed
  try {
    const answer = await commands.run(command, {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(signal === undefined ? {} : { signal }),
    })
    return printed(answer, command['format'])
  } catch (error) {
    if (!(error instanceof CofferdamError) || error.code !== 'CEPH_UNREACHABLE') throw error
    return { code: 1, out: '', err: `[errno 110] RADOS timed out (${error.message})\n` }
  }
}

type Parsed = { readonly command: CephCommand; readonly timeoutMs: number | undefined } | { readonly problem: string }

function parseWords(given: readonly string[]): Parsed {
  const words: string[] = []
  const options: Record<string, Json> = {}
  let timeoutMs: number | undefined
  const rest = given.flatMap((word) => (word.startsWith('--') && word.includes('=') ? splitOnce(word, '=') : [word]))
  while (rest.length > 0) {
    const word = rest.shift() as string
    if (word === '-s') words.push('status')
    else if (!word.startsWith('-')) words.push(word)
    else {
      const value = rest.shift()
      if (value === undefined) return { problem: `${word} needs a value` }
      if (word === '--format' || word === '-f') options['format'] = value
      else if (word === '--max' && /^\d+$/.test(value)) options['max'] = Number(value)
      else if (word === '--connect-timeout' && /^\d+$/.test(value)) timeoutMs = Number(value) * 1_000
      else if (!ignoredOptions.has(word)) return { problem: `the simulated Ceph takes no ${word} ${value}` }
    }
  }
  const length = [4, 3, 2, 1].find((count) => count <= words.length && isKnown(words.slice(0, count)))
  if (length === undefined) return { problem: `command not known to the simulated Ceph: ${words.join(' ')}` }
  const prefix = words.slice(0, length).join(' ')
  return { command: { prefix, ...nameWords(prefix, words.slice(length)), ...options }, timeoutMs }
}

function isKnown(words: readonly string[]): boolean {
  return Object.hasOwn(argumentNames, words.join(' '))
}

function nameWords(prefix: string, words: readonly string[]): Record<string, Json> {
  const names = argumentNames[prefix] ?? []
  return Object.fromEntries(
    names.flatMap((name, at): [string, Json][] => {
      const own = at === names.length - 1 ? words.slice(at) : words.slice(at, at + 1)
      return own.length === 0 ? [] : [[name, own]]
    }),
  )
}

function printed({ code, out, err }: CephAnswer, format: Json | undefined): ProgramEnd {
  const note = code === 0 ? err : `Error ${errnoNames[code] ?? 'Unknown'}: ${err}`
  const text = format === undefined || format === 'json-pretty' ? pretty(out) : out
  return { code, out: withLineEnd(text), err: withLineEnd(note) }
}

/** Tables for people are not what it knows; JSON that they can read comes nearest. */
function pretty(out: string): string {
  try {
    return JSON.stringify(JSON.parse(out), null, 2)
  } catch {
    return out
  }
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function splitOnce(word: string, separator: string): string[] {
  const at = word.indexOf(separator)
  return [word.slice(0, at), word.slice(at + separator.length)]
}
