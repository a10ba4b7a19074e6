import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type ActorTools, deleteExactly } from '../actor.ts'

export interface Remediation {
  readonly node: string
  readonly atMs: number
}

export interface RemediatorControls {
  /** What it did, in order. */
  remediated(): readonly Remediation[]
  /** One that does not listen does nothing and writes nothing, as if its controller were not installed. */
  setListening(on: boolean): void
}

/** What a remediator does to a sick machine: has it replaced, or has its power cycled. */
export type RemedyKind = 'delete' | 'reboot'

/** A reboot that has not helped by then is tried again. */
const rebootPatienceMs = 600_000

export interface RemedyPorts {
  readonly tools: ActorTools
  readonly kind: RemedyKind
  readonly machines: ResourceType<Machine>
  readonly powerCycle: (node: string) => void
}

export class Remedy {
  readonly #ports: RemedyPorts
  readonly #done: Remediation[] = []
  readonly #rebooting = new Map<string, { readonly bootID: string; readonly atMs: number }>()

  constructor(ports: RemedyPorts) {
    this.#ports = ports
  }

  get done(): readonly Remediation[] {
    return [...this.#done]
  }

  /** Whether a reboot was ordered that may still help. */
  isUnderWay(node: Node): boolean {
    const { name } = node.metadata
    const reboot = this.#rebooting.get(name)
    if (reboot === undefined) return false
    const isBack = conditionOf(node, 'Ready')?.status === 'True' && node.status?.nodeInfo?.bootID !== reboot.bootID
    if (!isBack && this.#ports.tools.clock.now() - reboot.atMs < rebootPatienceMs) return true
    this.#rebooting.delete(name)
    return false
  }

  /** A machine without a node can only be replaced. */
  async apply(machine: Machine, node: Node | undefined): Promise<void> {
    const { tools, kind, machines, powerCycle } = this.#ports
    const atMs = tools.clock.now()
    const nodeName = node?.metadata.name ?? machine.status?.nodeRef?.name ?? ''
    if (kind === 'reboot' && node !== undefined) {
      this.#rebooting.set(nodeName, { bootID: node.status?.nodeInfo?.bootID ?? '', atMs })
      powerCycle(nodeName)
      tools.recorder.record(machine, 'Normal', 'MachineRebooted', `Power of node ${nodeName} is being cycled`)
    } else {
      if (!(await deleteExactly(tools, machines, machine))) return
      const text = `Machine ${machine.metadata.name} has been remediated by requesting to delete Machine object`
      tools.recorder.record(machine, 'Normal', 'MachineDeleted', text)
    }
    this.#done.push({ node: nodeName, atMs })
  }
}
