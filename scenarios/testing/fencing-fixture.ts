import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  machineDisruptionBudgets,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions, events, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { fenceLabelPrefix } from '@cofferdam/product/capabilities/fencing/domain/fence-labels.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { buildPartAccess } from '@cofferdam/product/deploy/access-manifests.ts'
import { permissionsOf } from '@cofferdam/product/operator/controller-names.ts'
import { trustsAlone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { buildCephDescription } from '@cofferdam/simulator/cluster-file/build-ceph-description.ts'
import { type ClusterDescription, parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import {
  clusterApiDefinitions,
  nodeHealthCheckDefinition,
  openshiftMachineDefinitions,
} from '@cofferdam/simulator/cluster-file/machine-definitions.ts'
import { seedCeph } from '@cofferdam/simulator/cluster-file/seed-ceph.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { createSimulatedCeph, type SimulatedCeph } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import type { Remediator } from '@cofferdam/simulator/world/machines/budget-health-check.ts'
import { type MachineKinds, machineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import type { MachineDrain, MachineTimings } from '@cofferdam/simulator/world/machines/machines-description.ts'
import type { RemedyKind } from '@cofferdam/simulator/world/machines/remedy.ts'
import {
  createSimulatedMachines,
  type SimulatedMachines,
} from '@cofferdam/simulator/world/machines/simulated-machines.ts'
import { startWorld, type World } from '@cofferdam/simulator/world/start-world.ts'
import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { openLine } from './cut-line.ts'
import { clusterFile, computeNodes, type FencedClusterShape, storageNodes } from './fencing-cluster.ts'
import { type FencingOracle, watchFencing } from './fencing-oracle.ts'
import { budgetText, recordFencing } from './fencing-recorder.ts'
import { machineApiOf, type RemediatorStyle, seedRemediator, startRemediator } from './fencing-remediators.ts'
import { watchTruth } from './fencing-truth.ts'
import type { StagedOperator } from './lock-fixture.ts'
import { keepBudgetsIn, settleDaemons } from './prepare-fenced-clusters.ts'
import { recordHealth } from './recorder.ts'
import { settled } from './settled.ts'
import { type OperateOptions, openOperators } from './staged-operators.ts'
import { openTrace, type Trace } from './trace.ts'

export interface FencingFixtureOptions extends FencedClusterShape {
  readonly remediator?: RemediatorStyle
  /** Default `delete`. */
  readonly remedy?: RemedyKind
  /** Default 300, as usual. */
  readonly notReadySeconds?: number
  /** What becomes of the disks of a machine that is replaced. Default `follow`. */
  readonly volumes?: 'follow' | 'lost'
  readonly timings?: Partial<MachineTimings>
  /** Labels of all Machines, as the templates of their sets give them. */
  readonly machineLabels?: Readonly<Record<string, string>>
  /** Machines that are deleted are drained first. Default: they are not. */
  readonly drain?: MachineDrain
  /** Further clusters with OSDs on the same nodes, by namespace. */
  readonly beside?: readonly { readonly namespace: string; readonly name: string }[]
  readonly seed?: number
  /** Seconds between looks of the oracle at Ceph itself, which is what costs most. Default 2. */
  readonly truthEvery?: number
  /** The API server knows no kind of Machine: whoever fences, fences nodes. */
  readonly withoutMachines?: boolean
  /** Whether the operator's own kinds are installed with it. Default: all. */
  readonly withoutBudgets?: boolean
}

export interface FencingFixture extends Pick<Scenario, 'server' | 'api' | 'clock'> {
  readonly world: World
  readonly views: Views
  readonly trace: Trace
  readonly oracle: FencingOracle
  readonly kinds: MachineKinds
  readonly machines: SimulatedMachines
  readonly remediator: Remediator | undefined
  /** The first, and those beside it. */
  readonly ceph: readonly SimulatedCeph[]
  /** Lets time pass; the oracle looks on. */
  seconds(count: number): Promise<void>
  /** Lets time pass until it holds; fails the scenario when it does not in time. */
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
  operate(options?: OperateOptions): StagedOperator
  /** The process that came last, also in place of another. */
  newestOperator(): StagedOperator | undefined
  /** The kubelet says that it cannot go on; what runs there, OSDs too, runs on. */
  sicken(...names: readonly string[]): void
  heal(...names: readonly string[]): void
  /** The machine is dead, and all that ran there. */
  kill(node: string): void
  reboot(node: string, downSeconds: number): void
  /** Of the first cluster. */
  failDisk(osd: number): void
  /** Commands of the operator to Ceph go unanswered until it may answer again. */
  silenceCeph(namespace?: string): void
  letCephAnswer(namespace?: string): void
  /** `maxUnavailable 1: 1 allowed, ...`; empty while there is none. */
  budget(cluster?: string): string
  budgetObject(cluster?: string): MachineDisruptionBudget | undefined
  isOpen(cluster?: string): boolean
  /** Names of the machines that carry a label of ours, with what comes after its prefix: `storage-1 rook-ceph`. */
  labelled(): string[]
  machine(name: string): Machine | undefined
  machineNames(): string[]
  nodeNames(): string[]
  /** `storage/rook-ceph/rook-ceph for storage-1`. */
  storageKeys(): Promise<string[]>
  request(name: string, nodeName: string, more?: Partial<NodeDisruption['spec']>): Promise<void>
  phaseOf(name: string): string
  /** `Reason note` of the operator's own events about an object, in order. */
  told(name: string): Promise<string[]>
  /** As `told`, about everything. */
  toldAll(): Promise<string[]>
  close(): Promise<void>
}

const stepMs = 1_000

function machineDefinitionsOf({ api }: MachineKinds): KubeObject[] {
  return api === 'openshift' ? openshiftMachineDefinitions() : clusterApiDefinitions()
}

/** A Ceph cluster with machines behind its nodes, all up and clean, before any operator has come. */
export async function openFencingFixture(options: FencingFixtureOptions = {}): Promise<FencingFixture> {
  const {
    remediator: style = 'budget',
    remedy = 'delete',
    notReadySeconds = 300,
    volumes = 'follow',
    seed = 1,
  } = options
  const { storage = 4, compute = 0, domain = 'host', beside = [], truthEvery = 2 } = options
  const { machineLabels = {}, drain } = options
  const descriptions = [{ namespace: 'rook-ceph', name: 'rook-ceph' }, ...beside].map(({ namespace, name }) =>
    parseClusterFile(clusterFile(options, namespace, name), 'the scenario'),
  )
  const [first] = descriptions as [ClusterDescription]
  const described = descriptions.map(({ ceph }) => ceph as CephClusterDescription)
  const scenario = openScenario(seed)
  const { server, api, clock, random, failures } = scenario
  const world = startWorld({
    api,
    clock,
    random,
    onFailure: (failure) => failures.push(failure),
    kubelet: { readySeconds: first.pace.readyAfterSeconds, terminationSeconds: first.pace.terminationSeconds },
    keepEvents: 'none',
  })
  const { views } = world
  const kinds = machineKinds(machineApiOf(style))

  const ceph = described.map((each) =>
    createSimulatedCeph({ api, clock, random, views, isOn: world.kubelet.isOn }, buildCephDescription(each)),
  )
  await seedCluster(api, first)
  for (const each of described.slice(1)) await seedCeph(api, each, first.pace)
  await settleDaemons(api, described)
  if (kinds.api === 'cluster-api') await keepBudgetsIn(api, described, kinds.namespace)
  const operatorApi = await installOperator(server, { ceph: described.map(({ namespace }) => namespace) })
  if (options.withoutBudgets === true) {
    const { plural, group } = machineDisruptionBudgets
    await api.delete(customResourceDefinitions, { name: `${plural}.${group}` })
  }
  const definitions = [
    ...(options.withoutMachines === true ? [] : machineDefinitionsOf(kinds)),
    nodeHealthCheckDefinition(),
  ]
  for (const definition of definitions) await api.create(customResourceDefinitions, definition)

  let oracle: FencingOracle | undefined
  const powerOff = (node: string) => {
    oracle?.cut(node)
    world.kubelet.powerOff(node)
  }
  const shared = {
    api,
    clock,
    random,
    views,
    onFailure: (failure: (typeof failures)[number]) => failures.push(failure),
  }
  const machines = createSimulatedMachines(
    { ...shared, kubelet: { ...world.kubelet, powerOff } },
    {
      api: kinds.api,
      sets:
        options.withoutMachines === true
          ? []
          : [
              { name: 'control', nodes: ['control-1', 'control-2', 'control-3'], volumes: 'follow' as const },
              { name: 'storage', nodes: storageNodes(storage), volumes },
              { name: 'compute', nodes: computeNodes(compute), volumes: 'follow' as const },
            ].map((set) => ({ ...set, labels: machineLabels })),
      ...(drain === undefined ? {} : { drain }),
      timings: { provisionSeconds: 60, terminateSeconds: 10, rebootSeconds: 60, ...options.timings },
    },
  )
  await machines.seeded
  await seedRemediator(api, { style, remedy, notReadySeconds, kinds })
  if (style === 'medik8s') {
    for (const manifest of buildPartAccess('medik8s', permissionsOf) as unknown as readonly KubeObject[]) {
      const type = typeOfObject(server.catalogue, manifest)
      if (type !== undefined) await api.create(type, manifest)
    }
  }
  const remediator = startRemediator(
    { ...shared, powerCycle: machines.controls.powerCycle },
    { style, remedy, notReadySeconds, kinds },
  )
  await scenario.seconds(60)

  const trace = openTrace(clock)
  const lines = new Map(described.map(({ namespace }) => [namespace, openLine()]))
  const operators = openOperators({
    server,
    settledAfterMs: 20_000,
    diesAtEvents: false,
    api: operatorApi,
    clock,
    random,
    tell: trace.tell,
    trust: trustsAlone(described),
    ceph({ namespace }) {
      const at = described.findIndex((each) => each.namespace === namespace)
      const line = lines.get(namespace)
      return line === undefined ? undefined : line.commands(heard((ceph[at] as SimulatedCeph).commands, namespace))
    },
  })

  function heard(commands: CephCommands, namespace: string): CephCommands {
    return {
      async run(command, limits) {
        const answer = await commands.run(command, limits)
        if (command.prefix === 'status' || command.prefix.startsWith('pg ')) oracle?.asked(namespace)
        return answer
      },
    }
  }

  const truths = described.map(({ namespace, name, osds }, at) =>
    watchTruth({
      namespace,
      name,
      commands: (ceph[at] as SimulatedCeph).commands,
      views,
      isOn: world.kubelet.isOn,
      domains: new Map(osds.map(({ id, location }) => [id, location[domain]])),
    }),
  )
  oracle = watchFencing({
    views,
    clock,
    kinds,
    truths,
    isOn: world.kubelet.isOn,
    isAttended: () => operators.isAttended() && [...lines.values()].every(({ isCut }) => !isCut),
  })
  const judge = oracle
  const stopRecording = recordFencing(views, kinds, trace)
  const lookAtHealth = recordHealth((ceph[0] as SimulatedCeph).commands, trace)
  let looking = Promise.resolve()
  let isLooking = false
  let steps = 0

  function look(): void {
    operators.look()
    steps += 1
    if (isLooking || steps % truthEvery !== 0) return
    lookAtHealth()
    isLooking = true
    looking = judge.look().finally(() => {
      isLooking = false
    })
  }

  async function seconds(count: number): Promise<void> {
    const end = clock.now() + count * 1_000
    while (clock.now() < end) {
      await clock.advance(Math.min(stepMs, end - clock.now()))
      look()
    }
  }

  async function until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds = 300): Promise<void> {
    const end = clock.now() + withinSeconds * 1_000
    while (!(await holds())) {
      if (clock.now() >= end) throw new Error(`not within ${withinSeconds} s: ${what}\n${trace.text()}`)
      await seconds(stepMs / 1_000)
    }
  }

  const budgetObject = (cluster = 'rook-ceph-rook-ceph') =>
    [...views.of(machineDisruptionBudgets).values()].find(({ metadata }) => metadata.name === cluster)

  async function ownEvents(name?: string): Promise<string[]> {
    const { items } = await api.list(events)
    return items
      .filter(
        ({ source, involvedObject }) =>
          source?.component === 'cofferdam' && (name ?? involvedObject.name) === involvedObject.name,
      )
      .sort((a: Event, b: Event) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .map(({ reason, message }) => `${reason} ${message}`)
  }

  // Views are opened before anybody asks what they hold.
  views.of(nodeDisruptions)
  await seconds(2)

  return {
    server,
    api,
    clock,
    world,
    views,
    trace,
    oracle: judge,
    kinds,
    machines,
    remediator,
    ceph,
    seconds,
    until,
    operate: operators.operate,
    newestOperator: operators.newest,
    sicken(...names) {
      for (const name of names) world.kubelet.setReady(name, false, 'the container runtime does not answer')
    },
    heal(...names) {
      for (const name of names) world.kubelet.setReady(name, true)
    },
    kill(node) {
      judge.mishap()
      world.kubelet.powerOff(node)
    },
    reboot(node, downSeconds) {
      judge.mishap()
      world.kubelet.reboot(node, downSeconds)
    },
    failDisk(osd) {
      judge.mishap()
      ceph[0]?.controls.failDisk(osd)
    },
    silenceCeph: (namespace = 'rook-ceph') => lines.get(namespace)?.cut(),
    letCephAnswer: (namespace = 'rook-ceph') => lines.get(namespace)?.mend(),
    budgetObject,
    budget(cluster) {
      const found = budgetObject(cluster)
      return found === undefined ? '' : budgetText(found)
    },
    isOpen: (cluster) => (budgetObject(cluster)?.status?.disruptionsAllowed ?? 0) > 0,
    labelled: () =>
      [...views.of(kinds.machines).values()]
        .flatMap(({ metadata }) =>
          Object.keys(metadata.labels ?? {})
            .filter((key) => key.startsWith(fenceLabelPrefix))
            .map((key) => `${metadata.name} ${key.slice(fenceLabelPrefix.length)}`),
        )
        .sort(),
    machine: (name) => [...views.of(kinds.machines).values()].find(({ metadata }) => metadata.name === name),
    machineNames: () => [...views.of(kinds.machines).values()].map(({ metadata }) => metadata.name).sort(),
    nodeNames: () => [...views.of(nodes).values()].map(({ metadata }) => metadata.name).sort(),
    async storageKeys() {
      const { items } = await api.list(disruptionLedgers)
      const keys = items.flatMap(({ status }) => status?.entries ?? []).filter(({ key }) => key.startsWith('storage/'))
      return [...new Set(keys.map(({ key, scope }) => `${key} for ${scope}`))]
    },
    async request(name, nodeName, more = {}) {
      const disruption: NodeDisruption = {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name },
        spec: { nodeName, intent: 'Reboot', honourSkipDrain: true, ...more },
      }
      await api.create(nodeDisruptions, disruption)
    },
    phaseOf: (name) => views.of(nodeDisruptions).get(name)?.status?.phase ?? 'Pending',
    told: (name) => ownEvents(name),
    toldAll: () => ownEvents(),
    async close() {
      await settled(clock, Promise.all([operators.stop(), looking]))
      stopRecording()
      judge.stop()
      remediator?.stop()
      machines.stop()
      for (const each of ceph) each.stop()
      world.stop()
      scenario.stop()
    },
  }
}
