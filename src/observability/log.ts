import { destination, type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'debug'>

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** One JSON object a line on standard error; standard output belongs to what a command answers. */
export function createLog(level: LogLevel): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ dest: 2, sync: true }),
  )
}

/** What a log line or a condition says of an error: its message and those of its causes, never a stack. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${errorText(error.cause)}`
}
