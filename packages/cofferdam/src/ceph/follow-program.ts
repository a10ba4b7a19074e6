import { spawn } from 'node:child_process'
import type { LogFollow } from './ceph-commands.ts'
import { cephUnreachable } from './ceph-unreachable.ts'
import { createLineCutter } from './log-lines.ts'

/** Runs a program that prints the cluster log until the signal ends it; rejects when it ends by itself. */
export function followProgram(run: {
  readonly program: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly follow: LogFollow
}): Promise<void> {
  const { program, args, environment, follow } = run
  return new Promise((resolve, reject) => {
    if (follow.signal.aborted) return resolve()
    const child = spawn(program, [...args], {
      env: environment as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    })
    const leave = () => child.kill('SIGKILL')
    follow.signal.addEventListener('abort', leave, { once: true })
    const cut = createLineCutter(follow.onLine)
    // The first thing it prints is the status, so it is connected.
    child.stdout.once('data', () => follow.onOpen())
    child.stdout.on('data', cut)
    child.once('error', (error) => reject(cephUnreachable('log', `${program}: ${error.message}`)))
    child.once('close', (code, killedBy) => {
      follow.signal.removeEventListener('abort', leave)
      if (follow.signal.aborted) resolve()
      else reject(cephUnreachable('log', `${program} ended with ${code ?? killedBy}`))
    })
  })
}
