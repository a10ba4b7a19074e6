import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease, Node } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { leases, nodeLeaseNamespace, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { microTimestamp, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import { type Actor, type ActorPorts, type ActorTools, openTools, writeStatus } from '../actor.ts'
import { indexByNode } from '../workloads/owned-pods.ts'
import { buildNodeStatus, saysTheSame } from './kubelet-node-status.ts'
import { createPodRunner, type PodRunner, type PodRunnerOptions } from './kubelet-pods.ts'
import type { Machine } from './machine.ts'
import { PodAddresses } from './pod-addresses.ts'

export interface KubeletOptions extends PodRunnerOptions {
  /** Nodes to register when they are not there yet. */
  readonly register?: readonly Node[]
  /** Which nodes have a machine behind them. Default: all. */
  readonly owns?: (node: Node) => boolean
  readonly leaseRenewSeconds?: number
  readonly leaseDurationSeconds?: number
  /** A node whose status stays the same posts it this often. */
  readonly statusSeconds?: number
}

export interface Kubelet extends Actor {
  /** Ends the kubelets, not what they run: as on a real machine, whoever owns the containers' runtime ends those. */
  stop(): void
  /** The machine stops at once, with all that runs on it, and says nothing. Its pods stay in the API as they were. */
  powerOff(node: string): void
  /** The machine boots: a new boot id, and every pod that stayed starts again. */
  powerOn(node: string): void
  reboot(node: string, downSeconds: number): void
  /** The machine and its containers run on but nobody hears from it, as behind a broken switch. One that ends is seen later. */
  disconnect(node: string): void
  reconnect(node: string): void
  setReady(node: string, ready: boolean, because?: string): void
  setPodReady(pod: { readonly namespace: string; readonly name: string }, ready: boolean): void
  isOn(node: string): boolean
}

/** `off` on a node cuts its power, for whoever has only kubectl at hand. */
const powerWish = 'cofferdam.io/power'

/** The kubelets of all simulated nodes: heartbeats, pods that start, stop and finish, and the power switch. */
export function createKubelet(ports: ActorPorts & KubeletOptions): Kubelet {
  const { leaseRenewSeconds = 10, leaseDurationSeconds = 40, statusSeconds = 300, owns = () => true } = ports
  const tools = openTools('kubelet', ports)
  const nodeView = tools.views.of(nodes)
  const podView = tools.views.of(pods)
  const podsOn = indexByNode(podView)
  const machines = new Map<string, Machine>()
  const addresses = new PodAddresses()
  const nodeQueue = tools.queue({ needs: [nodeView], work: reconcileNode, concurrency: 16 })
  const pending = new Set<() => void>()
  const runner: PodRunner = createPodRunner({ tools, addresses, nodeView, podView, options: ports, machineOf })

  function machineOf(node: string): Machine | undefined {
    return machines.get(node)
  }

  async function reconcileNode(name: string): Promise<void> {
    const node = nodeView.get(name)
    const machine = machines.get(name)
    if (node === undefined || machine === undefined || machine.power !== 'on') return
    const now = timestamp(tools.clock)
    const status = buildNodeStatus(node, { ...reportOf(machine), internalIP: addresses.nodeAddress(node), now })
    const isDue = tools.clock.now() - machine.postedAt >= statusSeconds * 1_000
    nodeQueue.addAfter(name, statusSeconds * 1_000)
    if (!isDue && saysTheSame(node.status, status)) return
    const wasReady = conditionOf(node, 'Ready')?.status === 'True'
    await writeStatus(tools, nodes, node, status)
    machine.postedAt = tools.clock.now()
    if (wasReady !== machine.isReady) recordReadiness(node, machine)
  }

  function recordReadiness(node: Node, machine: Machine): void {
    const reason = machine.isReady ? 'NodeReady' : 'NodeNotReady'
    tools.recorderOn(machine.name).record(node, 'Normal', reason, `Node ${machine.name} status is now: ${reason}`)
  }

  function beat(machine: Machine, inMs: number): void {
    machine.cancelLease?.()
    machine.cancelLease = tools.clock.after(inMs, () => {
      void renewLease(tools, machine, nodeView.get(machine.name), leaseDurationSeconds)
        .catch((error: unknown) => tools.fail(machine.name, error))
        .then(() => {
          if (machine.power === 'on' && machines.get(machine.name) === machine) beat(machine, leaseRenewSeconds * 1_000)
        })
    })
  }

  function adopt(node: Node): void {
    const { name } = node.metadata
    const machine: Machine = {
      name,
      bootID: node.status?.nodeInfo?.bootID || randomUid(tools.random.stream(name)),
      power: 'on',
      isOffByWish: false,
      isReady: true,
      notReadyBecause: '',
      lease: undefined,
      cancelLease: undefined,
      postedAt: 0,
    }
    machines.set(name, machine)
    start(machine)
  }

  function start(machine: Machine): void {
    machine.power = 'on'
    runner.clearStrays(machine.name)
    // Spread over the period, or thousands of nodes would all write in the same instant.
    beat(machine, Math.floor(tools.random.stream(machine.name).next() * leaseRenewSeconds * 1_000))
    nodeQueue.add(machine.name)
    for (const pod of podsOn(machine.name)) runner.wake(keyText(keyOf(pod)))
  }

  function followWish(node: Node, machine: Machine): void {
    const isOff = node.metadata.annotations?.[powerWish] === 'off'
    if (isOff && machine.power === 'on') {
      machine.isOffByWish = true
      halt(machine, 'off')
    } else if (!isOff && machine.isOffByWish) {
      machine.isOffByWish = false
      powerOn(machine.name)
    }
  }

  function halt(machine: Machine, power: 'off' | 'disconnected'): void {
    machine.power = power
    machine.cancelLease?.()
    if (power === 'off') runner.cutPower(machine.name)
  }

  function known(node: string): Machine {
    const machine = machines.get(node)
    if (machine === undefined) throw new RangeError(`there is no machine called "${node}"`)
    return machine
  }

  function powerOn(name: string): void {
    const machine = known(name)
    if (machine.power === 'on') return
    machine.bootID = randomUid(tools.random.stream(name))
    start(machine)
    const node = nodeView.get(name)
    if (node === undefined) return
    const recorder = tools.recorderOn(name)
    recorder.record(node, 'Normal', 'Starting', 'Starting kubelet.')
    recorder.record(node, 'Warning', 'Rebooted', `Node ${name} has been rebooted, boot id: ${machine.bootID}`)
  }

  tools.onStop(
    nodeView.subscribe(({ key, after }) => {
      const machine = machines.get(key)
      if (after === undefined) {
        machine?.cancelLease?.()
        machines.delete(key)
        return
      }
      if (machine === undefined && owns(after)) adopt(after)
      else nodeQueue.add(key)
      const running = machines.get(key)
      if (running !== undefined) followWish(after, running)
    }),
  )
  tools.onStop(() => {
    for (const machine of machines.values()) machine.cancelLease?.()
    for (const cancel of pending) cancel()
    machines.clear()
  })
  void registerNodes(tools, ports.register ?? [])

  return {
    stop: tools.stop,
    powerOff: (node) => halt(known(node), 'off'),
    powerOn,
    reboot(node, downSeconds) {
      halt(known(node), 'off')
      const cancel = tools.clock.after(downSeconds * 1_000, () => {
        pending.delete(cancel)
        if (machines.has(node)) powerOn(node)
      })
      pending.add(cancel)
    },
    disconnect: (node) => halt(known(node), 'disconnected'),
    reconnect(node) {
      const machine = known(node)
      if (machine.power === 'disconnected') start(machine)
    },
    setReady(node, ready, because = 'container runtime is down') {
      const machine = known(node)
      machine.isReady = ready
      machine.notReadyBecause = because
      nodeQueue.add(node)
    },
    setPodReady: (pod, ready) => runner.setReady(keyText(pod), ready),
    isOn: (node) => machines.get(node)?.power === 'on',
  }
}

function reportOf({ bootID, isReady, notReadyBecause }: Machine) {
  return { bootID, ready: isReady, notReadyBecause }
}

async function registerNodes(tools: ActorTools, register: readonly Node[]): Promise<void> {
  for (const node of register) {
    await tools.api.create(nodes, node).catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) tools.fail(node.metadata.name, error)
    })
  }
}

async function renewLease(
  tools: ActorTools,
  machine: Machine,
  node: Node | undefined,
  duration: number,
): Promise<void> {
  if (machine.power !== 'on' || node === undefined) return
  const renewTime = microTimestamp(tools.clock)
  try {
    machine.lease =
      machine.lease === undefined
        ? await tools.api.create(leases, buildLease(node, renewTime, duration))
        : await tools.api.update(leases, { ...machine.lease, spec: { ...machine.lease.spec, renewTime } })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists', 'Conflict', 'NotFound')) throw error
    // Somebody else wrote or removed it; the next beat goes from what is there.
    machine.lease = await tools.api
      .get(leases, { namespace: nodeLeaseNamespace, name: machine.name })
      .catch(() => undefined)
  }
}

function buildLease(node: Node, renewTime: string, leaseDurationSeconds: number): Lease {
  const { name, uid } = node.metadata
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: nodeLeaseNamespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: uid as string }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime },
  }
}
