import type { Command } from 'commander'
import type { Paint } from '../shared/paint.ts'
import type { Terminal } from './terminal.ts'

export const exitCodes = { done: 0, error: 1, usage: 2, blocked: 3, timedOut: 4 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export type OutputFormat = 'text' | 'wide' | 'json' | 'yaml'

/** Flags that every command takes. */
export interface GlobalFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  readonly as?: string
  readonly asGroup?: readonly string[]
  /** Milliseconds; 0: no limit. */
  readonly requestTimeout?: number
  readonly output: OutputFormat
}

export interface Invocation<Flags = object> {
  readonly args: readonly string[]
  readonly flags: Flags & GlobalFlags
  readonly terminal: Terminal
  /** Prints a result in place of the one before, for commands that go on. */
  readonly redraw: (result: unknown) => void
  /** Fires when the user wants it to end: Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal
}

export interface Example {
  readonly line: string
  readonly says: string
}

/**
 * One command. `run` returns data and `render` turns it into text for people; `-o json|yaml` prints the data as it is.
 * A long-running command may print while it runs and return undefined.
 */
export interface CliCommand<Flags = object, Result = unknown> {
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly examples: readonly Example[]
  /** Adds the command's own arguments and flags. */
  configure?(command: Command): void
  run(invocation: Invocation<Flags>): Promise<Result>
  /** `isWide`: with everything that a table has, however long its lines become. */
  render(result: Result, paint: Paint, isWide: boolean): string
  /** What `-o json|yaml` prints, where that is less than the result. */
  data?(result: Result): unknown
  /** Which code a result means; done where absent. */
  exitCode?(result: Result): ExitCode
}

/** Commands under one word: `plan osd-update`. */
export interface CommandGroup {
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly commands: readonly CliCommand[]
}
