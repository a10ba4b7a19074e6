import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine, MachineSet } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf, controllerOf, type OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorTools, deleteExactly, writeStatus } from '../actor.ts'
import { isTerminating } from '../pod-facts.ts'
import type { Fleet } from './fleet.ts'
import { indexByNodeRef } from './index-by-node-ref.ts'
import type { MachineKinds } from './machine-kinds.ts'
import { buildMachine } from './machine-objects.ts'
import { isOtherHealth } from './sick-nodes.ts'

export interface MachineSetsPorts {
  readonly tools: ActorTools
  readonly kinds: MachineKinds
  readonly clusterName: string
  readonly fleet: Fleet
}

/** Keeps as many machines as each MachineSet wants. One that is being deleted counts no more, so its replacement comes at once. */
export function startMachineSets({ tools, kinds, clusterName, fleet }: MachineSetsPorts): void {
  const setView = tools.views.of(kinds.machineSets)
  const machineView = tools.views.of(kinds.machines)
  const nodeView = tools.views.of(nodes)
  const membersOf = machineView.indexBy('owner', (machine) => [controllerOf(machine)?.uid ?? ''])
  const machinesOf = indexByNodeRef(machineView)
  const queue = tools.queue({ needs: [setView, machineView, nodeView], work: reconcile, concurrency: 1 })
  /** The highest number that a machine of a set ever had: names of machines that are gone are not used again. */
  const lastNumber = new Map<string, number>()

  async function reconcile(key: string): Promise<void> {
    const set = setView.get(key)
    if (set === undefined || isTerminating(set)) return
    const members = [...membersOf(set.metadata.uid ?? '')]
    const active = members.filter((machine) => !isTerminating(machine))
    const wanted = set.spec?.replicas ?? 1
    for (let count = active.length; count < wanted; count += 1) await add(key, set)
    for (const machine of [...active].sort(firstToGo).slice(0, Math.max(0, active.length - wanted))) {
      fleet.abandon(keyText(keyOf(machine)))
      await deleteExactly(tools, kinds.machines, machine)
    }
    await reportStatus(set, members)
  }

  async function add(key: string, set: MachineSet): Promise<void> {
    const number = (lastNumber.get(key) ?? 0) + 1
    lastNumber.set(key, number)
    const machine = buildMachine(
      { kinds, clusterName, namespace: set.metadata.namespace ?? '' },
      set,
      `${set.metadata.name}-${number}`,
    )
    const machineKey = keyText(keyOf(machine))
    fleet.fill(key, machineKey)
    try {
      machineView.record(await tools.api.create(kinds.machines, machine))
    } catch (error) {
      fleet.reopen(machineKey)
      throw error
    }
  }

  function firstToGo(a: Machine, b: Machine): number {
    const rank = ({ metadata, status }: Machine) =>
      metadata.annotations?.[kinds.deleteFirst] !== undefined ? 0 : status?.nodeRef === undefined ? 1 : 2
    return rank(a) - rank(b) || (keyText(keyOf(a)) < keyText(keyOf(b)) ? 1 : -1)
  }

  async function reportStatus(set: MachineSet, members: readonly Machine[]): Promise<void> {
    const readyReplicas = members.filter((machine) => !isTerminating(machine) && hasReadyNode(machine)).length
    const replicas = members.length
    const status = { ...set.status, replicas, readyReplicas, availableReplicas: readyReplicas }
    if (!isSameJson(status, set.status ?? {})) await writeStatus(tools, kinds.machineSets, set, status)
  }

  function hasReadyNode({ status }: Machine): boolean {
    const node = nodeView.get(status?.nodeRef?.name ?? '')
    return node !== undefined && conditionOf(node, 'Ready')?.status === 'True'
  }

  function enqueueSetOf({ metadata }: Machine, owner: OwnerReference | undefined): void {
    if (owner === undefined) return
    const key = `${metadata.namespace}/${owner.name}`
    lastNumber.set(key, Math.max(lastNumber.get(key) ?? 0, numberOf(metadata.name, owner.name)))
    queue.add(key)
  }

  tools.onStop(setView.subscribe(({ key, after }) => (after === undefined ? undefined : queue.add(key))))
  tools.onStop(
    machineView.subscribe(({ before, after }) => {
      const machine = (after ?? before) as Machine
      enqueueSetOf(machine, controllerOf(machine))
    }),
  )
  tools.onStop(
    nodeView.subscribe(({ key, before, after }) => {
      if (!isOtherHealth(before, after)) return
      for (const machine of machinesOf(key)) enqueueSetOf(machine, controllerOf(machine))
    }),
  )
}

function numberOf(name: string, set: string): number {
  const tail = name.startsWith(`${set}-`) ? Number(name.slice(set.length + 1)) : 0
  return Number.isInteger(tail) ? tail : 0
}
