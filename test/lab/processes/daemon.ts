import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Journal } from './journal.ts'

export interface DaemonOptions {
  /** `etcd`, `osd.3`: how the journal and the log file call it. */
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly environment?: Readonly<Record<string, string>>
  readonly folder?: string
  readonly logFile: string
  readonly journal: Journal
}

export interface DaemonEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A real process of the lab. */
export interface Daemon {
  readonly name: string
  readonly pid: number
  readonly logFile: string
  readonly ended: Promise<DaemonEnd>
  isRunning(): boolean
  /** Whether somebody has asked it to end, or sent it a signal: what becomes of it since then is no accident. */
  wasSignalled(): boolean
  signal(signal: NodeJS.Signals): void
  /** Asks it to end, and kills it when it has not within the time. Resolves when it is gone. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/**
 * Starts a program that dies with us, however we die: the kernel kills it when our process ends.
 *
 * Assumes: the caller runs in the main thread of its process; the kernel watches the thread that started the child.
 */
export function startDaemon(options: DaemonOptions): Daemon {
  const { name, command, environment = {}, folder, logFile, journal } = options
  const log = openSync(logFile, 'a')
  const child: ChildProcess = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...environment },
    ...(folder === undefined ? {} : { cwd: folder }),
  })
  closeSync(log)
  let end: DaemonEnd | undefined
  let wasSignalled = false
  const ended = new Promise<DaemonEnd>((resolve) => {
    const finish = (result: DaemonEnd) => {
      end ??= result
      resolve(end)
    }
    child.once('error', (error) => {
      journal.tell(name, `could not be started: ${error.message}`)
      finish({ code: 127, signal: null })
    })
    child.once('exit', (code, signal) => {
      journal.tell(name, `ended, ${signal ?? `exit code ${code}`}`)
      finish({ code, signal })
    })
  })
  journal.tell(name, `started, pid ${child.pid}`)
  return {
    name,
    pid: child.pid ?? -1,
    logFile,
    ended,
    isRunning: () => end === undefined,
    wasSignalled: () => wasSignalled,
    signal(signal) {
      if (end !== undefined) return
      wasSignalled = true
      journal.tell(name, `gets ${signal}`)
      child.kill(signal)
    },
    async stop({ graceMs = 5_000 } = {}) {
      if (end !== undefined) return
      wasSignalled = true
      child.kill('SIGTERM')
      await Promise.race([ended, pause(graceMs, undefined, { ref: false })])
      if (end === undefined) child.kill('SIGKILL')
      await ended
    },
  }
}
