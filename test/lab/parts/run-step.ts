import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface Step {
  /** What is being done, as the error names it: `building kube-apiserver`. */
  readonly task: string
  readonly command: readonly [string, ...string[]]
  readonly log: string
  readonly folder?: string
  readonly environment?: Readonly<Record<string, string>>
  /** False for what must be finished once begun, such as an installation of packages. */
  readonly diesWithUs?: boolean
}

export class StepError extends Error {
  /** The last lines that the program wrote. */
  readonly tail: string

  constructor(step: Step, outcome: string, tail: string) {
    const lines = tail === '' ? '' : `\n${tail.replaceAll(/^/gm, '  | ')}`
    super(`${step.task} failed: ${step.command[0]} ${outcome}; its output is in ${step.log}${lines}`)
    this.name = 'StepError'
    this.tail = tail
  }
}

/** The log of a set-up, beside the logs of suites. */
export function setupLog(name: string): string {
  return join('.cofferdam', 'lab', `${name}.log`)
}

/** Runs a program to its end, with its output appended to the log and not on the screen. Rejects with StepError. */
export async function runStep(step: Step): Promise<void> {
  const { command, log, folder, environment = {}, diesWithUs = true } = step
  await mkdir(dirname(log), { recursive: true })
  const file = openSync(log, 'a')
  const [program, ...args] = diesWithUs ? bound(command) : command
  const child = spawn(program, args, {
    stdio: ['ignore', file, file],
    env: { ...process.env, ...environment },
    ...(folder === undefined ? {} : { cwd: folder }),
  })
  closeSync(file)
  const outcome = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${error.message})`))
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(undefined)
      else resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`)
    })
  })
  if (outcome !== undefined) throw new StepError(step, outcome, await lastLines(log, 6))
}

/** What the program started ends with it too, where we have the right to give it a process space of its own. */
function bound(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  const ownSpace = process.getuid?.() === 0 ? ['unshare', '--pid', '--fork', '--kill-child', '--'] : []
  return ['setpriv', '--pdeathsig', 'KILL', '--', ...ownSpace, ...command]
}

async function lastLines(file: string, count: number): Promise<string> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n').slice(-count).join('\n')
}
