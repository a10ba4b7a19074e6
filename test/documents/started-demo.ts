import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = resolve(import.meta.dirname, '../..')
const readyWithinMs = 240_000

export interface StartedDemo {
  /** The folder of a reader: what the build left, and nothing that others use. */
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
  /** Ctrl-C. Returns the exit code, and whether the kubeconfig and its folder are gone. */
  end(): Promise<{ readonly exitCode: number | null; readonly leavesNothing: boolean }>
  /** Ends it if it still runs, and takes the folder away. */
  clear(): Promise<void>
}

let lastStart: Promise<unknown> = Promise.resolve()

/**
 * What `npm start` starts, on free ports, in a folder of its own; its output is in demo.log. One at a time: together they would
 * be slower than any reader's.
 */
export function startDemoFor(kubectl: string): Promise<StartedDemo> {
  const started = lastStart.then(() => startDemo(kubectl))
  lastStart = started.catch(() => undefined)
  return started
}

async function startDemo(kubectl: string): Promise<StartedDemo> {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-document-'))
  layOut(home, kubectl)
  const environment = {
    PATH: `${join(home, 'programs')}:${process.env['PATH']}`,
    HOME: home,
    USER: 'reader',
    LANG: 'C.UTF-8',
  }
  const log = join(home, 'demo.log')
  const output = openSync(log, 'w')
  const demo = spawn(process.execPath, ['bin/cofferdam.js', 'demo', '--port', '0', '--kube-port', '0'], {
    cwd: home,
    env: environment,
    stdio: ['ignore', output, output],
  })
  const clear = async () => {
    await ended(demo, 'SIGKILL')
    rmSync(home, { recursive: true, force: true })
  }
  try {
    for (const deadline = Date.now() + readyWithinMs; !readFileSync(log, 'utf8').includes('Ctrl-C ends it'); ) {
      if (demo.exitCode !== null || Date.now() > deadline) {
        throw new Error(`the demo did not become ready:\n${readFileSync(log, 'utf8')}`)
      }
      await sleep(200)
    }
  } catch (error) {
    await clear()
    throw error
  }
  return {
    home,
    environment,
    clear,
    async end() {
      const exitCode = await ended(demo, 'SIGINT')
      return { exitCode, leavesNothing: !existsSync(join(home, '.cofferdam')) }
    },
  }
}

function layOut(home: string, kubectl: string): void {
  for (const folder of ['bin', 'dist']) {
    cpSync(join(root, folder), join(home, folder), { recursive: true, filter: (file) => !file.endsWith('.map') })
  }
  for (const beside of ['node_modules', 'deploy', 'examples', 'package.json'])
    symlinkSync(join(root, beside), join(home, beside))
  mkdirSync(join(home, 'programs'))
  symlinkSync(kubectl, join(home, 'programs/kubectl'))
  symlinkSync('../bin/cofferdam.js', join(home, 'programs/cofferdam'))
}

function ended(demo: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  return new Promise((done) => {
    if (demo.exitCode !== null || demo.signalCode !== null) return done(demo.exitCode)
    demo.once('exit', (code) => done(code))
    demo.kill(signal)
  })
}
