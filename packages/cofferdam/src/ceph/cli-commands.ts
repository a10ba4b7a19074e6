import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type CephAccess, type CephLimits, defaultLimits } from './ceph-access.ts'
import type { CephCommands } from './ceph-commands.ts'
import { buildCommandLine } from './command-line.ts'
import { followProgram } from './follow-program.ts'
import { watchArguments } from './log-lines.ts'
import { readPrintedAnswer } from './read-printed-answer.ts'
import { runProgram } from './run-program.ts'

export interface CliOptions {
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly access?: CephAccess
  readonly limits?: Partial<CephLimits>
  readonly program?: string
}

/** Asks through the `ceph` program, one process for each command. */
export function createCliCommands(options: CliOptions): CephCommands {
  const { clock, environment, access = {}, program = 'ceph' } = options
  const limits = { ...defaultLimits, ...options.limits }
  return {
    async run(command, { timeoutMs = limits.timeoutMs, signal } = {}) {
      const args = [...connectArguments(access, timeoutMs), ...buildCommandLine(command)]
      const { prefix } = command
      const { maxBytes } = limits
      const printed = await runProgram({ program, args, prefix, environment, clock, timeoutMs, maxBytes, signal })
      return readPrintedAnswer(prefix, printed)
    },
    followLog: (follow) =>
      followProgram({
        program,
        args: [...connectArguments(access, limits.timeoutMs), ...watchArguments],
        environment,
        follow,
      }),
  }
}

export function connectArguments(access: CephAccess, timeoutMs: number): readonly string[] {
  const given = {
    '--conf': access.conf,
    '--mon-host': access.monHost,
    '--name': access.name,
    '--keyring': access.keyring,
    '--keyfile': access.keyFile,
    '--connect-timeout': String(Math.max(1, Math.ceil(timeoutMs / 1000))),
  }
  return Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [option, value]))
}
