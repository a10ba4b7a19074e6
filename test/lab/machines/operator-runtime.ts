import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephAccess } from '@cofferdam/product/ceph/ceph-access.ts'
import type { ContainerRuntime } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import { freePorts } from '../processes/free-port.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { followLines } from './follow-lines.ts'
import { type OperatorPlace, operatorArguments } from './operator-arguments.ts'
import { withOwnHostname } from './own-hostname.ts'
import { processContainer } from './process-container.ts'
import { shortLine } from './short-line.ts'

export interface OperatorRuntimeOptions {
  /** What the entrypoint of a pod's image is: `node bin/cofferdam.js`. */
  readonly program: OperatorProgram
  readonly folder: Pick<LabFolder, 'logs'>
  readonly journal: Journal
  readonly environment?: Readonly<Record<string, string>>
  /** Beside those of the pod and those of the access. */
  readonly argumentsOf?: (pod: Pod) => readonly string[]
}

/** The same for all images, or by that of the pod. */
export type OperatorProgram = Command | ((image: string) => Command)
type Command = readonly [string, ...string[]]

/** What a pod would find mounted: as whom it talks to Kubernetes and to Ceph. */
export interface OperatorAccess {
  readonly kubeconfig: string
  readonly ceph?: CephAccess
  readonly cluster?: OperatorPlace['cluster']
  /** Where the API server calls eviction guards. Without it there are none. */
  readonly guardUrl?: string
}

export interface OperatorRuntime extends ContainerRuntime {
  /** Holds from the next start on. Pods that come before it was called wait for it. */
  use(access: OperatorAccess): void
  /** Those that run, by the names of their pods. */
  processes(): ReadonlyMap<string, Daemon>
  processOf(pod: string): Daemon | undefined
  /** Where the guards of those that run listen. */
  guardPorts(): number[]
}

/** Behind the pods of deploy/operator.yaml, the program itself with the arguments of the pod. */
export function operatorRuntime(options: OperatorRuntimeOptions): OperatorRuntime {
  const { folder, journal, environment = {}, argumentsOf = () => [] } = options
  const daemons = new Map<string, Daemon>()
  const guards = new Map<string, number>()
  let access: OperatorAccess | undefined
  let begin = () => {}
  const given = new Promise<void>((resolve) => {
    begin = resolve
  })

  function launch(pod: Pod, ports: readonly number[]): Daemon {
    if (access === undefined) throw new Error('nobody said yet as whom the operator talks to the cluster')
    const { kubeconfig, ceph, cluster, guardUrl: url } = access
    const { name } = pod.metadata
    const [port, guardPort] = ports as [number, number]
    const guard = url === undefined ? undefined : { port: guardPort, url }
    guards.set(name, guardPort)
    const image = pod.spec.containers[0]?.image ?? ''
    const [program, ...first] = typeof options.program === 'function' ? options.program(image) : options.program
    const args = [...operatorArguments(pod, { port, kubeconfig, ceph, cluster, guard }), ...argumentsOf(pod)]
    const logFile = join(folder.logs, `${name}.log`)
    const stopFollowing = followLines(logFile, (line) => journal.tell(name, shortLine(line)))
    const daemon = startDaemon({
      name,
      command: withOwnHostname(name, [program, ...first, ...args]),
      environment: { ...literalEnvironment(pod), ...environment },
      logFile,
      journal,
    })
    void daemon.ended.then(stopFollowing)
    daemons.set(name, daemon)
    return daemon
  }

  return {
    use(next) {
      access = next
      begin()
    },
    processes: () => new Map([...daemons].filter(([, daemon]) => daemon.isRunning())),
    processOf: (pod) => daemons.get(pod),
    guardPorts: () =>
      [...daemons].flatMap(([name, daemon]) => {
        const port = guards.get(name)
        return daemon.isRunning() && port !== undefined ? [port] : []
      }),
    start(pod) {
      if (!isOperator(pod)) return undefined
      let ports: readonly number[] = []
      return processContainer({
        prepare: async () => {
          await given
          ports = await freePorts(2)
          return () => launch(pod, ports)
        },
        ready: (daemon) => untilReady(daemon, `http://127.0.0.1:${ports[0]}/readyz`),
      })
    },
  }
}

async function untilReady(daemon: Daemon, url: string): Promise<void> {
  while (daemon.isRunning()) {
    const isReady = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false,
    )
    if (isReady) return
    await pause(100)
  }
  throw new Error(`${daemon.name} ended before it was ready; see ${daemon.logFile}`)
}

function isOperator({ metadata: { labels = {} } }: Pod): boolean {
  return labels['app.kubernetes.io/name'] === 'cofferdam' && labels['app.kubernetes.io/component'] === 'operator'
}

function literalEnvironment({ spec }: Pod): Record<string, string> {
  const env = (spec.containers[0] as { env?: { name: string; value?: string }[] } | undefined)?.env ?? []
  return Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
}
