import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  machineDisruptionBudgets,
  openshiftMachineNamespace,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions, events } from '@cofferdam/kubernetes/api/resources.ts'
import {
  clusterApiDefinitions,
  nodeHealthCheckDefinition,
  openshiftMachineDefinitions,
} from '@cofferdam/simulator/cluster-file/machine-definitions.ts'
import type { RemediatorPorts } from '@cofferdam/simulator/world/machines/budget-health-check.ts'
import type { MachinesDescription } from '@cofferdam/simulator/world/machines/machines-description.ts'
import {
  createSimulatedMachines,
  type SimulatedMachines,
} from '@cofferdam/simulator/world/machines/simulated-machines.ts'
import { buildCustomResourceDefinitions } from '../../../deploy/custom-resource-definitions.ts'
import { type CephFixture, openCephFixture } from '../../ceph-drain/testing/ceph-fixture.ts'

export const budgetKey = { namespace: openshiftMachineNamespace, name: 'rook-ceph-rook-ceph' }
export const label = 'fencegroup.rook.io/rook-ceph'

export interface FencingFixture extends CephFixture {
  readonly machines: SimulatedMachines
  /** What every remediator is given. */
  readonly remediator: RemediatorPorts
  budget(): Promise<MachineDisruptionBudget>
  /** `0 of 3, 3 healthy`, with who is disrupted and how old its count is; `none`. */
  budgetLine(): Promise<string>
  changeBudget(body: JsonObject): Promise<void>
  machine(name: string): Promise<Machine>
  /** Machines with the label of the cluster. */
  labelled(key?: string): Promise<string[]>
  /** `Warning FenceUnknown` of our events about an object, oldest first. */
  toldAbout(name: string): Promise<string[]>
  /** Writes of the operator since the last call, without events, ConfigMaps and pod budgets. */
  writes(): string[]
  /** As a remediator takes it: the status is compared and swapped. */
  consume(machine: string): Promise<'taken' | 'refused'>
  until(what: string, isTrue: () => Promise<boolean>, seconds?: number): Promise<void>
}

export interface FencingFixtureOptions {
  readonly file?: string
  readonly machines?: Partial<MachinesDescription>
  /** Definitions that are left out, by a part of their names. */
  readonly without?: readonly string[]
  /** Versions of Cluster API; none by default. */
  readonly clusterApi?: readonly string[]
}

/** The stage of Ceph with a machine behind every node: `workers-1` is behind node-x, `workers-2` behind node-y, and so on. */
export async function openFencingFixture(options: FencingFixtureOptions = {}): Promise<FencingFixture> {
  const fixture = await openCephFixture(options.file)
  const { api, clock, random, world, failures } = fixture
  const { without = [], clusterApi = [] } = options
  const definitions = [
    ...buildCustomResourceDefinitions(),
    ...openshiftMachineDefinitions(),
    ...(clusterApi.length === 0 ? [] : clusterApiDefinitions([...clusterApi])),
    nodeHealthCheckDefinition(),
  ].filter(({ metadata }) => !without.some((part) => metadata.name.includes(part)))
  for (const definition of definitions) await api.create<KubeObject>(customResourceDefinitions, definition)
  const shared = {
    api,
    clock,
    random,
    views: world.views,
    onFailure: (failure: CephFixture['failures'][number]) => failures.push(failure),
  }
  const machines = createSimulatedMachines(
    { ...shared, kubelet: world.kubelet },
    { sets: [{ name: 'workers', nodes: ['node-x', 'node-y', 'node-z'], volumes: 'follow' }], ...options.machines },
  )
  await fixture.seconds(5)
  const { kinds } = machines
  const namespace = options.machines?.namespace ?? kinds.namespace
  let read = 0

  const budget = () => api.get(machineDisruptionBudgets, budgetKey)

  async function found<T>(what: () => Promise<T>): Promise<T | undefined> {
    try {
      return await what()
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  return {
    ...fixture,
    machines,
    remediator: { ...shared, powerCycle: machines.controls.powerCycle },
    operate: (given = {}) => fixture.operate({ controllers: ['ceph-drain', 'fencing'], ...given }),
    budget,
    async budgetLine() {
      const seen = await found(budget)
      return seen === undefined ? 'none' : budgetText(seen)
    },
    async changeBudget(body) {
      await api.patch(machineDisruptionBudgets, budgetKey, { type: 'merge', body })
    },
    machine: (name) => api.get(kinds.machines, { namespace, name }),
    async labelled(key = label) {
      const { items } = await api.list(kinds.machines as ResourceType<Machine>, { labelSelector: `${key}=true` })
      return items.map(({ metadata }) => metadata.name)
    },
    async toldAbout(name) {
      const { items } = await api.list(events)
      return items
        .filter(({ source, involvedObject }) => source?.component === 'cofferdam' && involvedObject.name === name)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ type, reason }) => `${type} ${reason}`)
    },
    writes() {
      const fresh = fixture.written.slice(read)
      read = fixture.written.length
      return fresh.filter((text) => !/ (events|configmaps|poddisruptionbudgets)\//.test(text))
    },
    async consume(machine) {
      const seen = await budget()
      const { status, metadata } = seen
      if (status === undefined || status.disruptionsAllowed < 1 || status.observedGeneration !== metadata.generation) {
        return 'refused'
      }
      const at = new Date(clock.now()).toISOString()
      const next = {
        ...status,
        disruptionsAllowed: status.disruptionsAllowed - 1,
        disruptedMachines: { ...status.disruptedMachines, [machine]: at },
      }
      await api.update(machineDisruptionBudgets, { ...seen, status: next }, { subresource: 'status' })
      return 'taken'
    },
    async until(what, isTrue, seconds = 300) {
      for (let waited = 0; waited < seconds; waited += 1) {
        if (await isTrue()) return
        await fixture.seconds(1)
      }
      throw new Error(`${what}: not in ${seconds} s`)
    },
    async close() {
      machines.stop()
      await fixture.close()
    },
  }
}

function budgetText({ metadata, spec, status }: MachineDisruptionBudget): string {
  const {
    disruptionsAllowed = '-',
    currentHealthy = '-',
    expectedMachines = '-',
    disruptedMachines = {},
  } = status ?? {}
  const gone = Object.keys(disruptedMachines).sort()
  const isBehind = status?.observedGeneration !== metadata.generation
  return [
    `${spec?.maxUnavailable}: ${disruptionsAllowed} of ${expectedMachines}, ${currentHealthy} healthy`,
    ...(gone.length === 0 ? [] : [`without ${gone.join(', ')}`]),
    ...(isBehind ? ['not counted'] : []),
  ].join(', ')
}
