import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { CliCommand, CommandGroup } from '../command.ts'
import type { Connect } from '../connect.ts'
import { runProgram } from '../program.ts'
import { createTerminal } from '../terminal.ts'

type AnyCommand = CliCommand<never, never> | CliCommand | CommandGroup

/** Runs one command line of one command to its end, and keeps what it printed. */
export function runCommand(command: AnyCommand, ...argv: string[]) {
  return runUntil(new AbortController().signal, command, ...argv)
}

/** The same, until the user wants it to end. */
export async function runUntil(signal: AbortSignal, command: AnyCommand, ...argv: string[]) {
  const written = { out: '', err: '' }
  const terminal = createTerminal({
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    environment: {},
  })
  const commands = [command as CliCommand | CommandGroup]
  const code = await runProgram({ argv, commands, version: '0.0.0', terminal, signal, debug: false })
  return { code, ...written }
}

/** A way to a cluster in this process; `opened` and `closed` must be the same in the end. */
export function inProcess(api: KubeApi): {
  readonly connect: Connect
  readonly links: { opened: number; closed: number }
} {
  const links = { opened: 0, closed: 0 }
  const connect: Connect = async () => {
    links.opened += 1
    let isOpen = true
    return {
      api: new Proxy(api, {
        get(target, name) {
          if (!isOpen) throw new Error('the link is closed already')
          const own: unknown = Reflect.get(target, name, target)
          return typeof own === 'function' ? own.bind(target) : own
        },
      }),
      server: 'in-process',
      serverVersion: async () => 'v1.36.4',
      close: async () => {
        isOpen = false
        links.closed += 1
      },
    }
  }
  return { connect, links }
}
