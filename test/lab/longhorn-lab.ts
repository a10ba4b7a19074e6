import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  longhornInstanceManagers,
  longhornNamespace,
  longhornReplicas,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { HttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { errorText } from '@cofferdam/product/operator/log.ts'
import { longhornDefinitions } from '@cofferdam/simulator/cluster-file/longhorn-definitions.ts'
import type { LonghornControls } from '@cofferdam/simulator/world/longhorn/longhorn-controls.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { createSimulatedLonghorn } from '@cofferdam/simulator/world/longhorn/simulated-longhorn.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { runKubectl, startKubectl } from './control-plane/run-kubectl.ts'
import { startControlPlane } from './control-plane/start-control-plane.ts'
import { EngineProcesses } from './longhorn/engine-processes.ts'
import { beside, startBrain } from './longhorn/start-brain.ts'
import { operatorRuntime } from './machines/operator-runtime.ts'
import { startServiceProxy } from './machines/service-proxy.ts'
import { type Machines, startMachines } from './machines/start-machines.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import type { LonghornEngineParts, LonghornParts } from './parts/parts.ts'
import type { Daemon } from './processes/daemon.ts'
import { openJournal } from './processes/journal.ts'
import { openLabFolder } from './processes/lab-folder.ts'
import { type ProgramEnd, type RunningProgram, startProgram } from './processes/run-program.ts'

/** A real Kubernetes with a Longhorn that lives on its objects. */
export interface LonghornLab {
  readonly api: HttpKubeApi
  readonly machines: Machines
  readonly controls: LonghornControls
  /** Throws where none were asked for. */
  readonly processes: () => EngineProcesses
  /** What an actor of the world could not do, in words. */
  readonly faults: readonly string[]
  chapter(title: string): void
  until(what: string, holds: () => Promise<boolean>, withinSeconds?: number): Promise<void>
  kubectl(...args: readonly string[]): Promise<ProgramEnd>
  kubectlWith(input: object, ...args: readonly string[]): Promise<ProgramEnd>
  /** As for every cluster with Longhorn: no controller of Kubernetes stands behind the pods of instance managers. */
  drain(node: string): RunningProgram
  cofferdam(...args: readonly string[]): RunningProgram
  /** Applies deploy/ with kubectl, and waits until both replicas are ready. */
  installOperator(): Promise<void>
  /** The operators that run, by the names of their pods. */
  operators(): ReadonlyMap<string, Daemon>
  /** Nodes of a volume's whole copies, sorted. */
  wholeCopies(volume: string): Promise<string[]>
  isHealthy(volume: string): Promise<boolean>
  close(): Promise<void>
}

export interface LonghornLabOptions {
  readonly nodeNames: readonly string[]
  readonly longhorn: LonghornDescription
  /** Longhorn's own code handles drains, on its own kinds; what is simulated is its data plane alone. */
  readonly brain?: Pick<LonghornParts, 'version' | 'brain' | 'definitions'>
  /** Longhorn's own engine stands behind the volumes, each of this size. */
  readonly engine?: { readonly parts: LonghornEngineParts; readonly volumeBytes: number }
}

/** Nodes Ready, Longhorn's instance managers running; no operator yet. */
export async function openLonghornLab(name: string, options: LonghornLabOptions): Promise<LonghornLab> {
  const { nodeNames, brain, engine } = options
  const description = brain === undefined ? options.longhorn : beside(options.longhorn)
  const folder = await openLabFolder(name)
  const journal = openJournal(join(folder.logs, 'journal.log'))
  const endings: (() => unknown)[] = [() => folder.remove()]
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end()
  }
  try {
    return await open()
  } catch (error) {
    journal.tell('lab', `could not be opened: ${errorText(error)}`)
    await close()
    throw error
  }

  async function open(): Promise<LonghornLab> {
    const parts = await findKubernetes((line) => journal.tell('lab', line))
    const plane = await startControlPlane({ parts, folder, journal })
    endings.push(() => plane.close())
    const { api } = plane
    const operator = operatorRuntime({ folder, journal, program: [process.execPath, 'bin/cofferdam.js'] })
    const guards = await startServiceProxy(() => operator.guardPorts())
    endings.push(() => guards.close())
    const machines = startMachines({
      api,
      runtime: operator,
      journal,
      register: nodeNames.map((node) => ({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: node, labels: { 'kubernetes.io/hostname': node } },
      })),
      readySeconds: 0.5,
      terminationSeconds: 0.5,
    })
    endings.push(() => machines.stop())

    const kubectlWith = async (input: object | '', ...args: readonly string[]) => {
      const end = await runKubectl(plane, args, { input: input === '' ? '' : JSON.stringify(input) })
      journal.tell('kubectl', `${args.join(' ')}: exit code ${end.code}`)
      if (end.code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${end.stderr || end.stdout}`)
      return end
    }
    const kubectl = (...args: readonly string[]) => kubectlWith('', ...args)
    const until: LonghornLab['until'] = async (what, holds, withinSeconds = 60) => {
      const began = performance.now()
      while (!(await holds())) {
        if (performance.now() - began > withinSeconds * 1_000) throw new Error(`not within ${withinSeconds} s: ${what}`)
        await pause(200)
      }
      journal.tell('story', `${what} (after ${((performance.now() - began) / 1_000).toFixed(1)} s)`)
    }

    await kubectl('create', 'namespace', longhornNamespace)
    if (brain === undefined) {
      await kubectlWith({ apiVersion: 'v1', kind: 'List', items: longhornDefinitions() }, 'apply', '-f', '-')
    } else await kubectl('apply', '-f', brain.definitions)
    await kubectl('wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all')
    const faults: string[] = []
    const processes = engine === undefined ? undefined : new EngineProcesses({ ...engine, folder, journal })
    endings.push(() => processes?.close())
    const longhorn = createSimulatedLonghorn(
      {
        api,
        clock: realClock,
        isOn: machines.isOn,
        ...(processes === undefined ? {} : { processes }),
        onFailure({ actor, key, error }) {
          faults.push(`${actor} ${key}: ${errorText(error)}`)
          journal.tell(actor, `${key}: ${errorText(error)}`)
        },
      },
      description,
    )
    endings.push(() => longhorn.stop())
    const inLonghorn = { namespace: longhornNamespace }
    await until('all instance managers run', async () => {
      const { items } = await api.list(longhornInstanceManagers, inLonghorn)
      return items.filter(({ status }) => status?.currentState === 'running').length === nodeNames.length
    })
    if (brain !== undefined) {
      const running = await startBrain(brain, { plane, folder, journal, kubectlWith })
      endings.push(() => running.stop())
    }
    const readyPods = async (namespace: string) =>
      (await api.list(pods, { namespace })).items.filter((pod) => isActive(pod) && isReady(pod)).length

    return {
      api,
      machines,
      controls: longhorn.controls,
      processes() {
        if (processes === undefined) throw new Error('no engine was asked for')
        return processes
      },
      faults,
      chapter: (title) => journal.tell('story', `# ${title}`),
      until,
      kubectl,
      kubectlWith,
      drain: (node) =>
        startKubectl(plane, ['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--force'], (line) =>
          journal.tell(`drain ${node}`, line),
        ),
      cofferdam: (...args) =>
        startProgram([process.execPath, 'bin/cofferdam.js', ...args, '--kubeconfig', plane.kubeconfig], {
          onLine: (line) => journal.tell('cofferdam', line),
        }),
      async installOperator() {
        await kubectl('apply', '-f', 'deploy/crds', '-f', 'deploy/access.yaml')
        const kubeconfig = await plane.kubeconfigOf(operatorAccount)
        operator.use({ kubeconfig, guardUrl: `https://127.0.0.1:${guards.port}` })
        await kubectl('apply', '-k', 'test/lab/install/longhorn')
        await until('both operators are ready', async () => (await readyPods(operatorAccount.namespace)) === 2)
      },
      operators: () => operator.processes(),
      async wholeCopies(volume) {
        const { items } = await api.list(longhornReplicas, inLonghorn)
        const own = items.filter(({ spec }) => spec?.volumeName === volume && spec.healthyAt && !spec.failedAt)
        return own.map(({ spec }) => spec?.nodeID ?? '').sort()
      },
      async isHealthy(volume) {
        const { status } = await api.get(longhornVolumes, { ...inLonghorn, name: volume })
        return status?.robustness === 'healthy'
      },
      close,
    }
  }
}

/** One pod that has the volume `db` mounted: on this node while it can be, else wherever it runs. */
export function databaseOn(node: string): object {
  return workloadOn(node, 'db')
}

/** The same with another volume, whose name it bears. */
export function workloadOn(node: string, volume: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: volume, namespace: 'default' },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { app: volume } },
      template: {
        metadata: { labels: { app: volume }, annotations: { 'cofferdam.io/longhorn-volumes': volume } },
        spec: {
          containers: [{ name: 'main', image: 'registry.example/db:1' }],
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  preference: {
                    matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }],
                  },
                },
              ],
            },
          },
        },
      },
    },
  }
}
