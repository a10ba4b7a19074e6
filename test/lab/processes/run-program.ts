import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'

export interface ProgramEnd {
  /** As a shell tells it: 128 and more when a signal ended it. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A program that may take its time. */
export interface RunningProgram {
  readonly ended: Promise<ProgramEnd>
  isRunning(): boolean
  /** What it has said so far on both streams, in the order in which it came. */
  output(): string
  /** Ends it, by default at once; resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<ProgramEnd>
}

export interface ProgramOptions {
  readonly onLine?: (line: string) => void
  readonly input?: string | undefined
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a program as somebody at a terminal does, and hands over its lines as they come. It dies with us. */
export function startProgram(
  command: readonly [string, ...string[]],
  { onLine, input, environment = {} }: ProgramOptions = {},
): RunningProgram {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], { env: { ...process.env, ...environment } })
  const said: { readonly stream: 'stdout' | 'stderr'; readonly line: string }[] = []
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] }).on('line', (line) => {
      said.push({ stream, line })
      onLine?.(line)
    })
  }
  // A program that reads no input may be gone before all of it was written.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const textOf = (lines: readonly { readonly line: string }[]) => lines.map(({ line }) => `${line}\n`).join('')
  let isRunning = true
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      isRunning = false
      resolve({
        code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
        stdout: textOf(said.filter(({ stream }) => stream === 'stdout')),
        stderr: textOf(said.filter(({ stream }) => stream === 'stderr')),
      })
    })
  })
  return {
    ended,
    isRunning: () => isRunning,
    output: () => textOf(said),
    stop(signal = 'SIGKILL') {
      child.kill(signal)
      return ended
    },
  }
}
