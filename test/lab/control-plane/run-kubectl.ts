import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ControlPlane } from './control-plane.ts'

export interface KubectlEnd {
  /** As a shell tells it: 128 and more when a signal ended it. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A kubectl that may take its time. */
export interface RunningKubectl {
  readonly ended: Promise<KubectlEnd>
  isRunning(): boolean
  /** What it has said so far on both streams, in the order in which it came. */
  output(): string
  /** Kills it; resolves when it is gone. */
  stop(): Promise<KubectlEnd>
}

/** Which program talks to whom: an administrator of the control plane, unless another kubeconfig is put in its place. */
export type KubectlTarget = Pick<ControlPlane, 'kubectl' | 'kubeconfig'>

/** Runs kubectl to its end. One that takes longer than it may is killed, and its end says so. */
export async function runKubectl(
  target: KubectlTarget,
  args: readonly string[],
  { timeoutMs = 60_000, input }: { readonly timeoutMs?: number; readonly input?: string } = {},
): Promise<KubectlEnd> {
  const running = launch(target, args, { input })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void running.stop()
  }, timeoutMs)
  const end = await running.ended
  clearTimeout(timer)
  return isLate ? { ...end, stderr: `${end.stderr}kubectl was killed after ${timeoutMs} ms\n` } : end
}

/** Starts kubectl and hands over its lines as they come. */
export function startKubectl(
  target: KubectlTarget,
  args: readonly string[],
  onLine: (line: string) => void = () => {},
): RunningKubectl {
  return launch(target, args, { onLine })
}

/** Like every program of the lab, kubectl dies with us. */
function launch(
  { kubectl, kubeconfig }: KubectlTarget,
  args: readonly string[],
  { onLine, input }: { readonly onLine?: (line: string) => void; readonly input?: string | undefined },
): RunningKubectl {
  // What kubectl remembers of a server is for that server alone: the next lab may get the same port.
  const own = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(dirname(kubeconfig), 'kubectl-cache')}`]
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', kubectl, ...own, ...args], {
    env: { ...process.env, KUBERC: 'off' },
  })
  const said: { readonly stream: 'stdout' | 'stderr'; readonly line: string }[] = []
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] }).on('line', (line) => {
      said.push({ stream, line })
      onLine?.(line)
    })
  }
  // A kubectl that reads no input may be gone before all of it was written.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const textOf = (lines: readonly { readonly line: string }[]) => lines.map(({ line }) => `${line}\n`).join('')
  let isRunning = true
  const ended = new Promise<KubectlEnd>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      isRunning = false
      resolve({
        code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
        stdout: textOf(said.filter(({ stream }) => stream === 'stdout')),
        stderr: textOf(said.filter(({ stream }) => stream === 'stderr')),
      })
    })
  })
  return {
    ended,
    isRunning: () => isRunning,
    output: () => textOf(said),
    stop() {
      child.kill('SIGKILL')
      return ended
    },
  }
}
