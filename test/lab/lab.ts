import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { HttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { isRetired } from '@cofferdam/product/capabilities/ceph-drain/domain/retire-budget.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { buildCephDescription } from '@cofferdam/simulator/cluster-file/build-ceph-description.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import { Views } from '@cofferdam/simulator/world/actor.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { type Oracle, watchOver } from '../../scenarios/testing/oracle.ts'
import { budgetText, recordCluster, recordHealth } from '../../scenarios/testing/recorder.ts'
import type { LabCeph } from './ceph/lab-ceph.ts'
import { watchForStalls } from './ceph/stalled-osds.ts'
import { startCeph } from './ceph/start-ceph.ts'
import type { ControlPlane } from './control-plane/control-plane.ts'
import { runKubectl, startKubectl } from './control-plane/run-kubectl.ts'
import { startControlPlane } from './control-plane/start-control-plane.ts'
import { anyRuntime } from './machines/any-runtime.ts'
import { cephRuntime } from './machines/ceph-runtime.ts'
import type { LabCluster } from './machines/operator-arguments.ts'
import { type OperatorProgram, operatorRuntime } from './machines/operator-runtime.ts'
import { prepareRuntime } from './machines/prepare-runtime.ts'
import { type ServiceProxy, startServiceProxy } from './machines/service-proxy.ts'
import { type Machines, startMachines } from './machines/start-machines.ts'
import { findCeph } from './parts/find-ceph.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import type { CephRelease } from './parts/parts.ts'
import type { Daemon } from './processes/daemon.ts'
import { type Journal, openJournal } from './processes/journal.ts'
import { type LabFolder, openLabFolder } from './processes/lab-folder.ts'
import { type ProgramEnd, type RunningProgram, startProgram } from './processes/run-program.ts'

/** A real Kubernetes with machines on which real Ceph daemons run as pods. */
export interface Lab {
  readonly plane: ControlPlane
  readonly ceph: LabCeph
  readonly machines: Machines
  readonly api: HttpKubeApi
  readonly views: Views
  readonly oracle: Oracle
  readonly journal: Journal
  readonly folder: LabFolder
  readonly namespace: string
  /** A line of its own in the journal for what the story does next. */
  chapter(title: string): void
  /** Waits until it holds; fails the story when it does not in time. */
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
  /** Lets time pass; the oracle looks on. */
  seconds(count: number): Promise<void>
  /** Runs kubectl as an administrator; a refusal fails the story. */
  kubectl(...args: readonly string[]): Promise<ProgramEnd>
  /** The same with something to read. */
  kubectlWith(input: string, ...args: readonly string[]): Promise<ProgramEnd>
  drain(node: string): RunningProgram
  /** Starts our own command line as an administrator does. */
  cofferdam(...args: readonly string[]): RunningProgram
  /**
   * Applies deploy/ with kubectl, or in another way, and waits until both replicas are ready and all OSDs have their budget. Beside
   * Rook, OSD Deployments are not the operator's own.
   */
  installOperator(options?: { readonly besideRook?: boolean; readonly apply?: () => Promise<unknown> }): Promise<void>
  /** Starts the operators anew with the setting that adds OSDs. */
  growWith(rookImage: string): Promise<void>
  /** The ways to the API server and from it to the guards; the first only where it was asked for. */
  readonly links: { readonly api?: ServiceProxy; readonly guards: ServiceProxy }
  /** Processes of the operator, by the names of their pods. */
  operators(): ReadonlyMap<string, Daemon>
  /** Names of the OSD budgets that are there. */
  osdBudgets(): string[]
  /** `maxUnavailable 1, without osd 1`; undefined when there is no such budget. */
  budgetText(name: string): string | undefined
  /** `0` ... of OSDs whose pods are on this node and not about to leave it. */
  osdsOn(node: string): number[]
  nooutBuckets(): Promise<string[]>
  close(): Promise<void>
}

const clusterFile = new URL('./cluster.yaml', import.meta.url)
const pollEveryMs = 250

export interface LabOptions {
  /** Operators reach the API server through a link that can be cut. */
  readonly hasApiLink?: boolean
  /** No operator can be expected to finish what it has begun; absent: while none runs. */
  readonly isUnattended?: () => boolean
  /** What runs behind the operator's pods; absent: the build of this checkout. */
  readonly operatorProgram?: OperatorProgram
}

/** Opens the whole lab: Ceph clean, nodes Ready, every OSD pod backed by its process, no operator yet. */
export async function openLab(name: string, options: LabOptions = {}): Promise<Lab> {
  const folder = await openLabFolder(name)
  const journal = openJournal(join(folder.logs, 'journal.log'))
  const endings: (() => unknown)[] = [() => folder.remove()]
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end()
  }
  try {
    return await open({ folder, journal, endings, close, options })
  } catch (error) {
    journal.tell('lab', `could not be opened: ${error instanceof Error ? error.message : String(error)}`)
    await close()
    throw error
  }
}

interface Opening {
  readonly folder: LabFolder
  readonly journal: Journal
  /** What has to be ended, in the order in which it began. */
  readonly endings: (() => unknown)[]
  readonly close: () => Promise<void>
  readonly options: LabOptions
}

async function open({ folder, journal, endings, close, options }: Opening): Promise<Lab> {
  const say = (line: string) => journal.tell('lab', line)
  const description = parseClusterFile(readFileSync(clusterFile, 'utf8'), 'cluster.yaml')
  const described = description.ceph as CephClusterDescription
  const { plane, ceph } = await startBoth({ folder, journal, endings }, described)
  const { api } = plane

  const { operatorProgram: program = [process.execPath, 'bin/cofferdam.js'] } = options
  const operator = operatorRuntime({ folder, journal, program })
  const guards = await startServiceProxy(() => operator.guardPorts())
  endings.push(() => guards.close())
  const apiPort = Number(new URL(plane.server).port)
  const apiLink = options.hasApiLink === true ? await startServiceProxy(() => [apiPort]) : undefined
  endings.push(() => apiLink?.close())
  const { namespace } = described
  const preparing = prepareRuntime({ ceph, api, namespace, journal })
  const runtime = anyRuntime(cephRuntime(ceph, namespace, journal), preparing, operator)
  const { readyAfterSeconds: readySeconds } = description.pace
  // Of pods without a process; those with one take their time.
  const machines = startMachines({ api, runtime, journal, readySeconds, terminationSeconds: 2 })
  endings.push(() => machines.stop())
  const views = new Views({
    api,
    clock: realClock,
    onFailure: ({ key, error }) => say(`view of ${key}: ${String(error)}`),
  })
  endings.push(() => views.stop())
  await seedCluster(api, description)

  const tell = (line: string) => journal.tell('cluster', line)
  endings.push(recordCluster(views, { tell }))
  const lookAtHealth = recordHealth(ceph.commands, { tell })
  const oracle = watchOver({
    views,
    domainLabel: `topology-location-${described.rados[0]?.failureDomain ?? 'host'}`,
    observeCeph: () => observeCeph(ceph.commands),
    isUnattended: () => operator.processes().size === 0 || options.isUnattended?.() === true,
    overlapLooks: 4,
    stalledOsds: watchForStalls({ daemon: (osd) => ceph.daemon(`osd.${osd}`), tell }),
  })
  endings.push(() => oracle.stop())

  async function seconds(count: number): Promise<void> {
    const end = performance.now() + count * 1_000
    while (performance.now() < end) {
      await pause(Math.min(pollEveryMs, Math.max(1, end - performance.now())))
      oracle.look()
      lookAtHealth()
    }
  }

  async function until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds = 60): Promise<void> {
    const began = performance.now()
    while (!(await holds())) {
      if (performance.now() - began > withinSeconds * 1_000) throw new Error(`not within ${withinSeconds} s: ${what}`)
      await seconds(pollEveryMs / 1_000)
    }
    journal.tell('scenario', `${what} (after ${((performance.now() - began) / 1_000).toFixed(1)} s)`)
  }

  const kubectl = (...args: readonly string[]) => kubectlWith('', ...args)

  async function kubectlWith(input: string, ...args: readonly string[]): Promise<ProgramEnd> {
    const end = await runKubectl(plane, args, { input })
    journal.tell('kubectl', `${args.join(' ')}: exit code ${end.code}`)
    if (end.code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${end.stderr || end.stdout}`)
    return end
  }

  const osdPods = (): Pod[] =>
    [...views.of(pods).values()].filter(({ metadata }) => metadata.labels?.['app'] === 'rook-ceph-osd')
  const osdBudgets = () =>
    [...views.of(podDisruptionBudgets).values()]
      .filter((budget) => !isRetired(budget))
      .map(({ metadata }) => metadata.name)
      .filter((budget) => budget.startsWith('rook-ceph-osd'))
      .sort()

  async function useOperator(how: Omit<LabCluster, 'key'>): Promise<void> {
    const kubeconfig = await plane.kubeconfigOf(operatorAccount, apiLink?.port)
    const cluster = { key: `${described.namespace}/${described.name}`, ...how }
    operator.use({ kubeconfig, ceph: ceph.operator, cluster, guardUrl: `https://127.0.0.1:${guards.port}` })
  }

  const lab: Lab = {
    plane,
    ceph,
    machines,
    api,
    views,
    oracle,
    journal,
    folder,
    namespace: described.namespace,
    chapter: (title) => journal.tell('scenario', `# ${title}`),
    until,
    seconds,
    kubectl,
    kubectlWith,
    drain: (node) =>
      startKubectl(plane, ['drain', node, '--ignore-daemonsets', '--delete-emptydir-data'], (line) =>
        journal.tell(`drain ${node}`, line),
      ),
    cofferdam: (...args) =>
      startProgram([process.execPath, 'bin/cofferdam.js', ...args, '--kubeconfig', plane.kubeconfig], {
        onLine: (line) => journal.tell('cofferdam', line),
      }),
    async installOperator({ besideRook = false, apply } = {}) {
      const overlay = `test/lab/install/${besideRook ? 'beside-rook' : 'ceph'}`
      await (apply?.() ?? kubectl('apply', '-f', 'deploy/crds', '-f', 'deploy/access.yaml'))
      await useOperator({ besideRook })
      if (apply === undefined) await kubectl('apply', '-k', overlay)
      await until('both operators are ready', () => countReady(views, operatorAccount.namespace) === 2)
      await until('all OSDs have the default budget', () => osdBudgets().join() === 'rook-ceph-osd')
    },
    async growWith(rookImage) {
      await useOperator({ rookImage })
      const deployment = ['-n', operatorAccount.namespace, 'rollout'] as const
      await kubectl(...deployment, 'restart', 'deployment/cofferdam-operator')
      await kubectl(...deployment, 'status', 'deployment/cofferdam-operator')
    },
    links: { guards, ...(apiLink && { api: apiLink }) },
    operators: () => operator.processes(),
    osdBudgets,
    budgetText(budgetName) {
      const budget = views.of(podDisruptionBudgets).get(`${described.namespace}/${budgetName}`)
      return budget && budgetText(budget)
    },
    osdsOn: (node) =>
      osdPods()
        .filter((pod) => pod.spec.nodeName === node && isActive(pod))
        .map(({ metadata }) => Number(metadata.labels?.['osd']))
        .sort((a, b) => a - b),
    async nooutBuckets() {
      const { out } = await ceph.commands.run({ prefix: 'osd dump', format: 'json' })
      const { crush_node_flags: flags } = JSON.parse(out) as { crush_node_flags: Record<string, string[]> }
      return Object.keys(flags).filter((bucket) => flags[bucket]?.includes('noout'))
    },
    close,
  }
  await until('all OSD pods are ready', () => osdPods().filter(isReady).length === described.osds.length)
  await until('all pods of Ceph are ready', () => countReady(views, described.namespace) === daemonCount(described))
  return lab
}

/** Kubernetes and Ceph start side by side: neither needs the other yet. */
async function startBoth(
  { folder, journal, endings }: Pick<Opening, 'folder' | 'journal' | 'endings'>,
  described: CephClusterDescription,
) {
  const say = (line: string) => journal.tell('lab', line)
  const release = (process.env['COFFERDAM_LAB_CEPH'] ?? '16') as CephRelease
  const [kubernetesParts, cephParts] = [await findKubernetes(say), await findCeph(release, say)]
  const began = performance.now()
  const mgrs = Array.from({ length: described.mgrs }, (_, index) => String.fromCharCode(97 + index))
  const starting = [
    startControlPlane({ parts: kubernetesParts, folder, journal }).then((plane) => {
      endings.push(() => plane.close())
      return plane
    }),
    startCeph({ parts: cephParts, description: buildCephDescription(described), mgrs, folder, journal }).then(
      (ceph) => {
        endings.push(() => ceph.close())
        return ceph
      },
    ),
  ] as const
  // When one fails, the other is waited for, so that it can be ended too.
  await Promise.allSettled(starting)
  const [plane, ceph] = await Promise.all(starting)
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  say(`Kubernetes ready and all placement groups clean after ${seconds} s`)
  return { plane, ceph }
}

function countReady(views: Views, namespace: string): number {
  return [...views.of(pods).values()].filter(
    (pod) => pod.metadata.namespace === namespace && isActive(pod) && isReady(pod),
  ).length
}

function daemonCount({ monNodes, mgrs, osds }: CephClusterDescription): number {
  return monNodes.length + mgrs + osds.length
}
