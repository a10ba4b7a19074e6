import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorTools, deleteExactly, writeStatus } from '../actor.ts'
import { isTerminating } from '../pod-facts.ts'
import { deletionHooks } from './deletion-hooks.ts'
import type { Fleet, Order } from './fleet.ts'
import { indexByNodeRef } from './index-by-node-ref.ts'
import { drainOnce } from './machine-drain.ts'
import type { MachineKinds } from './machine-kinds.ts'
import { buildNode, providerIdOf } from './machine-objects.ts'
import type { MachineDrain, MachineTimings } from './machines-description.ts'
import { cutPower, type PowerSwitch } from './power-cycle.ts'

export interface MachineLifePorts {
  readonly tools: ActorTools
  readonly kinds: MachineKinds
  readonly kubelet: PowerSwitch
  readonly fleet: Fleet
  readonly timings: MachineTimings
  /** Undefined: machines that are deleted are not drained. */
  readonly drain: MachineDrain | undefined
  /** No machine is made while this is so: the provider has none to give. */
  readonly isSoldOut: () => boolean
  /** A Machine has gone, or has got its Node. */
  readonly onTurn: () => void
}

/** How often a Machine that has no Node yet is reconciled. */
const recheckMs = 5_000
/** How long after an attempt to drain the next one follows. */
const drainRetryMs = 20_000

export interface MachineLife {
  enqueueAll(): void
}

/** Makes a Node for every Machine, and takes Machine, machine and Node away when the Machine is deleted. */
export function startMachineLife(ports: MachineLifePorts): MachineLife {
  const { tools, kinds, kubelet, fleet, timings } = ports
  const machineView = tools.views.of(kinds.machines)
  const nodeView = tools.views.of(nodes)
  const offSince = new Map<string, number>()
  const drainSince = new Map<string, number>()
  const machineOfNode = indexByNodeRef(machineView)
  const queue = tools.queue({ needs: [machineView, nodeView], work: reconcile })

  async function reconcile(key: string): Promise<void> {
    const machine = machineView.get(key)
    if (machine === undefined) return
    if (isTerminating(machine)) await retire(key, machine)
    else if (machine.status?.nodeRef === undefined) await provision(key, machine)
    else if (isReady(nodeView.get(machine.status.nodeRef.name ?? ''))) await enterPhase(machine, 'Running')
  }

  async function provision(key: string, machine: Machine): Promise<void> {
    const order = fleet.order(key) ?? takeOrder(key, machine)
    const readyAtMs = order.readyAtMs ?? 0
    const isWaiting = tools.clock.now() < readyAtMs || (readyAtMs > 0 && ports.isSoldOut())
    const node = isWaiting ? undefined : await join(machine, order)
    if (node === undefined) {
      queue.addAfter(key, Math.max(readyAtMs - tools.clock.now(), recheckMs))
      await enterPhase(machine, 'Provisioning')
      return
    }
    const spec = { ...machine.spec, providerID: providerIdOf(machine.metadata.name, node) }
    const provided = await tools.api.update(kinds.machines, { ...machine, spec })
    machineView.record(provided)
    const { name, uid } = node.metadata
    const nodeRef = { apiVersion: 'v1', kind: 'Node', name, ...(uid === undefined ? {} : { uid }) }
    const phase = isReady(node) ? 'Running' : 'Provisioned'
    await writeStatus(tools, kinds.machines, provided, { ...provided.status, phase, nodeRef })
    fleet.close(key)
    ports.onTurn()
  }

  function takeOrder(key: string, { metadata }: Machine): Order {
    const readyAtMs = tools.clock.now() + timings.provisionSeconds * 1_000
    return fleet.place(key, { node: metadata.name, readyAtMs, vacancy: fleet.vacancyFilledBy(key) })
  }

  async function join(machine: Machine, { node, readyAtMs, vacancy }: Order): Promise<Node | undefined> {
    if (readyAtMs === undefined) return nodeView.get(node)
    const joining = buildNode(node, vacancy?.blueprint, { machine, annotation: kinds.machineAnnotation })
    const joined = await tools.api.create(nodes, joining).catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) throw error
      return tools.api.get(nodes, { name: node })
    })
    nodeView.record(joined)
    return joined
  }

  async function retire(key: string, machine: Machine): Promise<void> {
    const node = machine.status?.nodeRef?.name
    if (!machine.metadata.finalizers?.includes(kinds.finalizer)) return
    const deleting = await enterPhase(machine, 'Deleting')
    if (deletionHooks(machine, 'drain').length > 0) return
    if (node !== undefined && !offSince.has(key) && !(await isDrained(key, node))) return
    if (deletionHooks(machine, 'terminate').length > 0) return
    const since = offSince.get(key)
    if (since === undefined) {
      offSince.set(key, tools.clock.now())
      if (node !== undefined) cutPower(kubelet, node)
      queue.addAfter(key, timings.terminateSeconds * 1_000)
      return
    }
    const leftMs = since + timings.terminateSeconds * 1_000 - tools.clock.now()
    if (leftMs > 0) {
      // Another turn, that was due sooner, has taken the place of the one that was asked for.
      queue.addAfter(key, leftMs)
      return
    }
    const held = node === undefined ? undefined : nodeView.get(node)
    if (held !== undefined) await deleteExactly(tools, nodes, held)
    const { finalizers = [], ...metadata } = deleting.metadata
    const rest = finalizers.filter((finalizer) => finalizer !== kinds.finalizer)
    await tools.api.update(kinds.machines, { ...deleting, metadata: { ...metadata, finalizers: rest } })
    offSince.delete(key)
  }

  async function isDrained(key: string, node: string): Promise<boolean> {
    if (ports.drain === undefined) return true
    const nowMs = tools.clock.now()
    const sinceMs = drainSince.get(key) ?? nowMs
    drainSince.set(key, sinceMs)
    const { timeoutSeconds = Number.POSITIVE_INFINITY } = ports.drain
    if (nowMs - sinceMs >= timeoutSeconds * 1_000 || (await drainOnce(tools.api, node, nowMs))) return true
    queue.addAfter(key, drainRetryMs)
    return false
  }

  async function enterPhase(machine: Machine, phase: string): Promise<Machine> {
    if (machine.status?.phase === phase) return machine
    return writeStatus(tools, kinds.machines, machine, { ...machine.status, phase })
  }

  function observeLoss(key: string, machine: Machine): void {
    const node = machine.status?.nodeRef?.name
    const set = controllerOf(machine)?.name
    if (set === undefined) return
    if (node === undefined) fleet.reopen(key)
    else {
      const blueprint = nodeView.get(node)
      fleet.vacate({ set: `${machine.metadata.namespace}/${set}`, machine: key, node, blueprint })
    }
  }

  tools.onStop(
    machineView.subscribe(({ key, before, after }) => {
      if (after === undefined || isTerminating(after)) observeLoss(key, (after ?? before) as Machine)
      if (after === undefined) {
        fleet.close(key)
        offSince.delete(key)
        drainSince.delete(key)
        ports.onTurn()
        return
      }
      if (before === undefined) fleet.isBack(key)
      queue.add(key)
    }),
  )
  tools.onStop(
    nodeView.subscribe(({ key, before, after }) => {
      if (isReady(before) === isReady(after)) return
      for (const machine of machineOfNode(key)) queue.add(keyText(keyOf(machine)))
    }),
  )
  return {
    enqueueAll() {
      for (const machine of machineView.values()) queue.add(keyText(keyOf(machine)))
    },
  }
}

function isReady(node: Node | undefined): boolean {
  return node !== undefined && conditionOf(node, 'Ready')?.status === 'True'
}
