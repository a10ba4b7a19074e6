import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const readyWithinMs = 240_000

export interface InstalledPackage {
  startDemo(): Promise<void>
  /** One command against the demo. */
  run(...argv: readonly string[]): { readonly code: number | null; readonly text: string }
  /** Ctrl-C, once. */
  end(): Promise<{ readonly exitCode: number | null; readonly leavesKubeconfig: boolean } | undefined>
}

/** As somebody would have it who knows of it only from its registry. */
export function installPackage(
  packed: string,
  { folder, release }: { readonly folder: string; readonly release: string },
): InstalledPackage {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'somewhere', private: true }))
  const runtime = `node-${process.platform}-${process.arch}`
  const packages = release === 'own' ? [packed] : [packed, `${runtime}@${release}`]
  const options = ['--no-audit', '--no-fund', '--ignore-scripts']
  const { status, stderr } = spawnSync('npm', ['install', ...options, ...packages], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install: ${stderr}`)
  const node = release === 'own' ? process.execPath : join(folder, 'node_modules', runtime, 'bin/node')
  return useProgram([node, join(folder, 'node_modules/cofferdam/bin/cofferdam.js')], folder)
}

/** A program with nothing around it but an empty folder. `command`: what is executed, with its first arguments. */
export function useProgram([file, ...first]: readonly [string, ...string[]], folder: string): InstalledPackage {
  const kubeconfig = join(folder, 'kubeconfig')
  const environment = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, KUBECONFIG: kubeconfig }
  const logFile = join(folder, 'demo.log')
  let demo: ChildProcess | undefined

  return {
    async startDemo() {
      const log = openSync(logFile, 'w')
      const flags = ['--port', '0', '--kube-port', '0', '--metrics-port', '0', '--kubeconfig-out', kubeconfig]
      demo = spawn(file, [...first, 'demo', ...flags], { cwd: folder, env: environment, stdio: ['ignore', log, log] })
      closeSync(log)
      const deadline = Date.now() + readyWithinMs
      while (!/^Ready: /m.test(readFileSync(logFile, 'utf8'))) {
        if (demo.exitCode !== null || Date.now() > deadline)
          throw new Error(`the demo is not ready:\n${readFileSync(logFile, 'utf8')}`)
        await sleep(200)
      }
    },
    run(...argv) {
      const {
        status: code,
        stdout,
        stderr: told,
      } = spawnSync(file, [...first, ...argv], {
        cwd: folder,
        env: environment,
        encoding: 'utf8',
      })
      return { code, text: `${stdout}${told}` }
    },
    async end() {
      if (demo === undefined) return undefined
      const ending = demo
      demo = undefined
      const ended = new Promise<number | null>((resolve) => ending.once('exit', resolve))
      ending.kill('SIGINT')
      return { exitCode: await ended, leavesKubeconfig: existsSync(kubeconfig) }
    },
  }
}
