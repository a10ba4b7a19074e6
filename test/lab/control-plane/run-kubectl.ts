import { dirname, join } from 'node:path'
import { type ProgramEnd, type ProgramOptions, type RunningProgram, startProgram } from '../processes/run-program.ts'
import type { ControlPlane } from './control-plane.ts'

/** Which program talks to whom: an administrator of the control plane, unless another kubeconfig is put in its place. */
export type KubectlTarget = Pick<ControlPlane, 'kubectl' | 'kubeconfig'>

/** Runs kubectl to its end. One that takes longer than it may is killed, and its end says so. */
export async function runKubectl(
  target: KubectlTarget,
  args: readonly string[],
  { timeoutMs = 60_000, input }: { readonly timeoutMs?: number; readonly input?: string } = {},
): Promise<ProgramEnd> {
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
): RunningProgram {
  return launch(target, args, { onLine })
}

function launch({ kubectl, kubeconfig }: KubectlTarget, args: readonly string[], options: ProgramOptions) {
  // What kubectl remembers of a server is for that server alone: the next lab may get the same port.
  const own = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(dirname(kubeconfig), 'kubectl-cache')}`]
  return startProgram([kubectl, ...own, ...args], { ...options, environment: { KUBERC: 'off' } })
}
