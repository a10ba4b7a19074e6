import type { Container, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { drainOnce } from '../machines/machine-drain.ts'
import type { ContainerRuntime } from '../nodes/container-runtime.ts'
import { controllerLabel, planLabel } from './upgrade-job.ts'

/** One container of an upgrade, as it runs on its node. */
export interface UpgradeRun {
  readonly nodeName: string
  /** With the variables of the container filled in. */
  readonly args: readonly string[]
  /** Fires when the pod is stopped, or its machine loses power. */
  readonly signal: AbortSignal
}

/** What the containers of a Plan do; each returns its exit code. */
export interface UpgradeWork {
  readonly prepare?: (run: UpgradeRun) => Promise<number>
  readonly upgrade: (run: UpgradeRun) => Promise<number>
}

const drainRetryMs = 5_000

/** Runs the pods of upgrade Jobs: one container after the other, and the pod is ready when the upgrade itself runs. */
export function upgradePods(
  { api, clock }: { readonly api: KubeApi; readonly clock: Clock },
  work: UpgradeWork,
): ContainerRuntime {
  async function runInit(name: string, run: UpgradeRun): Promise<number> {
    const { nodeName, signal } = run
    if (name === 'prepare') return (await work.prepare?.(run)) ?? 0
    await api.patch(nodes, { name: nodeName }, { type: 'merge', body: { spec: { unschedulable: true } } })
    // kubectl asks again where a budget refuses. The pods of upgrades are left out.
    while (name === 'drain' && !(await drainOnce(api, nodeName, clock.now(), isNoUpgrade))) {
      await sleep(clock, drainRetryMs, signal)
      if (signal.aborted) return 1
    }
    return 0
  }

  async function runAll(pod: Pod, signal: AbortSignal, becomeReady: () => void): Promise<number> {
    for (const container of pod.spec.initContainers ?? []) {
      const code = await runInit(container.name, runOf(pod, container, signal))
      if (code !== 0) return code
    }
    becomeReady()
    const [upgrade] = pod.spec.containers
    return upgrade === undefined ? 1 : work.upgrade(runOf(pod, upgrade, signal))
  }

  return {
    start(pod) {
      if (pod.metadata.labels?.[planLabel] === undefined) return undefined
      const stopping = new AbortController()
      let becomeReady = () => {}
      const ready = new Promise<void>((resolve) => {
        becomeReady = resolve
      })
      const ended = new Promise<number>((resolve) => {
        stopping.signal.addEventListener('abort', () => resolve(Number(stopping.signal.reason)), { once: true })
        runAll(pod, stopping.signal, becomeReady).then(resolve, () => resolve(1))
      })
      return { ready, ended, stop: async () => stopping.abort(143), kill: () => stopping.abort(137) }
    },
  }
}

function isNoUpgrade({ metadata }: Pod): boolean {
  return metadata.labels?.[controllerLabel] === undefined
}

/** As the kubelet does it: `$(NAME)` in arguments is the variable of the container. */
function runOf(pod: Pod, { args = [], env = [] }: Container, signal: AbortSignal): UpgradeRun {
  const nodeName = pod.spec.nodeName ?? ''
  const values = new Map(env.map(({ name, value }) => [name, value ?? nodeName]))
  const filled = args.map((arg) => arg.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => values.get(name) ?? whole))
  return { nodeName, args: filled, signal }
}
