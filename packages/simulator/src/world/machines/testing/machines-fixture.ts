import {
  type Machine,
  type MachineDisruptionBudget,
  type MachineHealthCheck,
  machineDisruptionBudgets,
  type NodeHealthCheck,
  nodeHealthChecks,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { machineDefinitions } from '../../../cluster-file/machine-definitions.ts'
import type { World } from '../../start-world.ts'
import { openWorld, type Scenario } from '../../testing/scenario.ts'
import type { RemediatorPorts } from '../budget-health-check.ts'
import type { MachinesDescription } from '../machines-description.ts'
import { createSimulatedMachines, type SimulatedMachines } from '../simulated-machines.ts'

export interface MachinesFixture extends Scenario {
  readonly world: World
  readonly machines: SimulatedMachines
  /** What every remediator is given. */
  readonly ports: RemediatorPorts
  readonly minutes: (count: number) => Promise<void>
  readonly machine: (name: string) => Promise<Machine>
  readonly change: (name: string, body: object) => Promise<void>
  /** `name phase node`, in the order of their names. */
  readonly machineLines: () => Promise<string[]>
  /** `name Ready boot`, boots as letters in the order in which they were first seen. */
  readonly nodeLines: () => Promise<string[]>
}

/** Six nodes in three zones, and one set of machines behind them: `workers-1` is behind node-1. */
export async function openMachines({
  seed,
  ...changes
}: Partial<MachinesDescription> & { readonly seed?: number } = {}): Promise<MachinesFixture> {
  const scenario = await openWorld({ seed: seed ?? 1, nodeCount: 6 })
  const { api, clock, random, world, failures } = scenario
  for (const definition of machineDefinitions()) await api.create(customResourceDefinitions, definition)
  const shared = {
    api,
    clock,
    random,
    views: world.views,
    onFailure: (failure: Scenario['failures'][number]) => failures.push(failure),
  }
  const machines = createSimulatedMachines(
    { ...shared, kubelet: world.kubelet },
    {
      sets: [{ name: 'workers', nodes: [1, 2, 3, 4, 5, 6].map((number) => `node-${number}`), volumes: 'follow' }],
      ...changes,
    },
  )
  await scenario.seconds(3)
  const { kinds } = machines
  const namespace = changes.namespace ?? kinds.namespace
  const boots = new Map<string, string>()
  const letterOf = (boot: string) => {
    if (!boots.has(boot)) boots.set(boot, String.fromCodePoint(97 + boots.size))
    return boots.get(boot) as string
  }
  return {
    ...scenario,
    machines,
    ports: { ...shared, powerCycle: machines.controls.powerCycle },
    minutes: (count) => clock.advance(count * 60_000),
    machine: (name) => api.get(kinds.machines, { namespace, name }),
    change: async (name, body) => {
      await api.patch(kinds.machines, { namespace, name }, { type: 'merge', body: body as Record<string, never> })
    },
    machineLines: async () =>
      (await api.list(kinds.machines)).items.map(
        ({ metadata, status }) => `${metadata.name} ${status?.phase ?? '-'} ${status?.nodeRef?.name ?? '-'}`,
      ),
    nodeLines: async () =>
      (await api.list(nodes)).items.map(
        (node) =>
          `${node.metadata.name} ${conditionOf(node, 'Ready')?.status} ${letterOf(node.status?.nodeInfo?.bootID ?? '')}`,
      ),
    stop() {
      machines.stop()
      scenario.stop()
    },
  }
}

/** A budget over the machines with this label, and a status in which so many may go. */
export async function putBudget(
  { api, machines }: MachinesFixture,
  {
    name,
    labels,
    allowed,
    isCurrent = true,
  }: { name: string; labels: Record<string, string>; allowed: number; isCurrent?: boolean },
): Promise<void> {
  const made = await api.create(machineDisruptionBudgets, {
    apiVersion: apiVersionOf(machineDisruptionBudgets),
    kind: machineDisruptionBudgets.kind,
    metadata: { name, namespace: machines.kinds.namespace },
    spec: { maxUnavailable: allowed, selector: { matchLabels: labels } },
  })
  const status = {
    observedGeneration: isCurrent ? 1 : 0,
    disruptionsAllowed: allowed,
    currentHealthy: 5,
    desiredHealthy: 5,
    expectedMachines: 6,
  }
  await api.update(machineDisruptionBudgets, { ...made, status }, { subresource: 'status' })
}

export async function budgetStatus({ api, machines }: MachinesFixture, name: string) {
  const key = { namespace: machines.kinds.namespace, name }
  const { status }: MachineDisruptionBudget = await api.get(machineDisruptionBudgets, key)
  return { allowed: status?.disruptionsAllowed, disrupted: Object.keys(status?.disruptedMachines ?? {}) }
}

export async function putMachineHealthCheck(
  { api, machines }: MachinesFixture,
  spec: NonNullable<MachineHealthCheck['spec']> = {},
): Promise<void> {
  const { healthChecks, namespace } = machines.kinds
  await api.create(healthChecks, {
    apiVersion: apiVersionOf(healthChecks),
    kind: healthChecks.kind,
    metadata: { name: 'workers', namespace },
    spec: { selector: {}, maxUnhealthy: '40%', ...spec },
  })
}

export async function putNodeHealthCheck(
  { api }: MachinesFixture,
  spec: NonNullable<NodeHealthCheck['spec']> = {},
): Promise<void> {
  await api.create(nodeHealthChecks, {
    apiVersion: apiVersionOf(nodeHealthChecks),
    kind: nodeHealthChecks.kind,
    metadata: { name: 'all' },
    spec: { selector: {}, minHealthy: '51%', ...spec },
  })
}
