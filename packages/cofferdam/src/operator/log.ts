import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { destination, pino } from 'pino'
import { harmlessJson } from '../shared/harmless-text.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** One JSON object a line on standard error; standard output belongs to what a command answers. */
export function createLog(
  level: LogLevel,
  stream: { write(line: string): unknown } = destination({ dest: 2, sync: true }),
): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    // Lines are read on terminals, and hold what anybody wrote into the cluster.
    { write: (line: string) => void stream.write(`${harmlessJson(line.trimEnd())}\n`) },
  )
}

/** What a log line or a condition says of an error: its message and those of its causes, never a stack. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${errorText(error.cause)}`
}
