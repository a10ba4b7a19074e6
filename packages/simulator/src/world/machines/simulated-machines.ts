import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Machine, MachineSet } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, type ActorTools, openTools } from '../actor.ts'
import { isTerminating } from '../pod-facts.ts'
import { Fleet, type Vacancy } from './fleet.ts'
import { indexByNodeRef } from './index-by-node-ref.ts'
import { type MachineKinds, machineKinds } from './machine-kinds.ts'
import { startMachineLife } from './machine-life.ts'
import { buildMachine, buildMachineSet } from './machine-objects.ts'
import { startMachineSets } from './machine-sets.ts'
import { defaultMachineTimings, type MachineSetDescription, type MachinesDescription } from './machines-description.ts'
import { moveDaemons } from './move-daemons.ts'
import { type PowerSwitch, powerCycle } from './power-cycle.ts'

export interface MachinesPorts extends ActorPorts {
  /** The power switch of the machines. */
  readonly kubelet: PowerSwitch
  /** The disks of one node are in another now, before anything that runs there is told. */
  readonly onDisksMoved?: (from: string, to: string) => void
}

export interface SimulatedMachines extends Actor {
  readonly kinds: MachineKinds
  readonly controls: MachineControls
  /** When the machines and sets of the description are there. Never rejects. */
  readonly seeded: Promise<void>
}

/** What can be done to machines beside the API. */
export interface MachineControls {
  /** `namespace/name` of the Machine behind a node. */
  machineOf(node: string): string | undefined
  /** Off now, and on again after the reboot time with another boot ID. A node that is not there is left alone. */
  powerCycle(node: string): void
  /** The provider has no more machines to give: what is being made waits. */
  sellOut(on: boolean): void
  /** Machines that are gone or going, with the Machine made in their stead; in the order in which they went. */
  replaced(): readonly { readonly machine: string; readonly node: string; readonly by: string | undefined }[]
}

/**
 * The machines behind the nodes of a cluster, with their Machine objects and the sets that replace them.
 *
 * A deleted Machine waits for its deletion hooks, is drained where the description says so, then loses its power, then its Node goes,
 * then itself.
 */
export function createSimulatedMachines(ports: MachinesPorts, description: MachinesDescription): SimulatedMachines {
  const { api = 'openshift', version, clusterName = 'cluster' } = description
  const kinds = machineKinds(api, version)
  const namespace = description.namespace ?? kinds.namespace
  const timings = { ...defaultMachineTimings, ...description.timings }
  const tools = openTools('machine-controller', ports)
  const fleet = new Fleet()
  const machineView = tools.views.of(kinds.machines)
  const nodeView = tools.views.of(nodes)
  const machinesOf = indexByNodeRef(machineView)
  const volumesOf = new Map(description.sets.map(({ name, volumes }) => [`${namespace}/${name}`, volumes]))
  const moved = new Set<Vacancy>()
  let isSoldOut = false
  let isStopped = false
  const moves = tools.queue({ needs: [machineView, nodeView], work: moveAll, concurrency: 1 })

  function behind(node: string): Machine | undefined {
    const [machine] = machinesOf(node)
    return machine
  }

  /** A machine that is being removed stays off. */
  function isKept(node: string): boolean {
    const machine = behind(node)
    return machine === undefined || !isTerminating(machine)
  }

  /** Disks move when nobody holds them any more and somebody is there to take them. */
  async function moveAll(): Promise<void> {
    for (const vacancy of fleet.vacancies) {
      const to = machineView.get(fleet.heirOf(vacancy) ?? '')?.status?.nodeRef?.name
      if (moved.has(vacancy) || to === undefined || machineView.get(vacancy.machine) !== undefined) continue
      const withOsds = volumesOf.get(vacancy.set) === 'follow'
      if (withOsds) ports.onDisksMoved?.(vacancy.node, to)
      await moveDaemons(tools, { from: vacancy.node, to, withOsds })
      moved.add(vacancy)
    }
  }

  const life = startMachineLife({
    tools,
    kinds,
    kubelet: ports.kubelet,
    fleet,
    timings,
    drain: description.drain,
    isSoldOut: () => isSoldOut,
    onTurn: () => moves.add('all'),
  })
  const seeded = seed({ tools, kinds, namespace, clusterName, fleet }, description.sets)
    .catch((error: unknown) => tools.fail(namespace, error))
    .then(() => {
      if (!isStopped) startMachineSets({ tools, kinds, clusterName, fleet })
    })

  return {
    kinds,
    seeded,
    controls: {
      machineOf(node) {
        const machine = behind(node)
        return machine === undefined ? undefined : keyText(keyOf(machine))
      },
      powerCycle: (node) =>
        powerCycle(tools, ports.kubelet, { node, downSeconds: timings.rebootSeconds, isKept: () => isKept(node) }),
      sellOut(on) {
        isSoldOut = on
        if (!on) life.enqueueAll()
      },
      replaced: () => fleet.vacancies.map(({ machine, node, successor }) => ({ machine, node, by: successor })),
    },
    stop() {
      isStopped = true
      tools.stop()
    },
  }
}

async function seed(
  place: {
    readonly tools: ActorTools
    readonly kinds: MachineKinds
    readonly namespace: string
    readonly clusterName: string
    readonly fleet: Fleet
  },
  sets: readonly MachineSetDescription[],
): Promise<void> {
  const { tools, kinds, namespace, fleet } = place
  await createOnce(tools, namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  for (const description of sets) {
    const set: MachineSet = await createOnce(tools, kinds.machineSets, buildMachineSet(place, description))
    for (const [index, node] of description.nodes.entries()) {
      const machine = buildMachine(place, set, `${description.name}-${index + 1}`)
      fleet.place(keyText(keyOf(machine)), { node, readyAtMs: undefined, vacancy: undefined })
      tools.views.of(kinds.machines).record(await createOnce(tools, kinds.machines, machine))
    }
  }
}

async function createOnce<T extends KubeObject>(tools: ActorTools, type: ResourceType<T>, object: T): Promise<T> {
  return tools.api.create(type, object).catch((error: unknown) => {
    if (!hasReason(error, 'AlreadyExists')) throw error
    return tools.api.get(type, keyOf(object))
  })
}
