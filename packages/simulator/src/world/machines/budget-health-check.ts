import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { isSelected, type LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, openTools } from '../actor.ts'
import { isTerminating } from '../pod-facts.ts'
import { useBudgets } from './budget-use.ts'
import { indexByNodeRef } from './index-by-node-ref.ts'
import { type MachineApi, machineKinds } from './machine-kinds.ts'
import { type RemediatorControls, Remedy, type RemedyKind } from './remedy.ts'
import { isOtherHealth, notReadyFor, sickAtMs } from './sick-nodes.ts'

export interface RemediatorPorts extends ActorPorts {
  /** As the machines' controls have it; used by remedies that reboot. */
  readonly powerCycle: (node: string) => void
}

export interface Remediator extends Actor {
  readonly controls: RemediatorControls
}

export interface BudgetHealthCheckOptions {
  /** Default `openshift`. */
  readonly api?: MachineApi
  /** Version of Cluster API; default the newest. */
  readonly version?: string
  /** The machines it manages. Default: all. */
  readonly selector?: LabelSelector
  /** Default 300. */
  readonly notReadySeconds?: number
  /** How soon it asks again after a refusal. Default 60. */
  readonly retrySeconds?: number
  /** Default `delete`. */
  readonly remedy?: RemedyKind
  /** `all`: each budget that selects a machine has to agree. `refuse`: two are an error, as in 2019. Default `all`. */
  readonly severalBudgets?: 'all' | 'refuse'
  readonly isListening?: boolean
}

/** A health check as of 2019: before it takes a machine it asks the machine's disruption budgets. */
export function createBudgetHealthCheck(ports: RemediatorPorts, options: BudgetHealthCheckOptions = {}): Remediator {
  const { selector = {}, retrySeconds = 60, severalBudgets = 'all', remedy: kind = 'delete' } = options
  const sicknesses = notReadyFor((options.notReadySeconds ?? 300) * 1_000)
  const kinds = machineKinds(options.api ?? 'openshift', options.version)
  const tools = openTools('machine-health-check', ports)
  const machineView = tools.views.of(kinds.machines)
  const nodeView = tools.views.of(nodes)
  const machinesOf = indexByNodeRef(machineView)
  const remedy = new Remedy({ tools, kind, machines: kinds.machines, powerCycle: ports.powerCycle })
  const queue = tools.queue({ needs: [machineView, nodeView], work: reconcile, concurrency: 1 })
  let isListening = options.isListening ?? true

  async function reconcile(key: string): Promise<void> {
    const machine = machineView.get(key)
    if (!isListening || machine === undefined || isTerminating(machine)) return
    const node = nodeView.get(machine.status?.nodeRef?.name ?? '')
    if (node === undefined || !isSelected(selector, machine.metadata.labels)) return
    const dueMs = sickAtMs(node, sicknesses)
    if (dueMs === undefined) return
    const waitMs = dueMs - tools.clock.now()
    if (waitMs > 0) {
      queue.addAfter(key, waitMs)
      return
    }
    queue.addAfter(key, retrySeconds * 1_000)
    if (remedy.isUnderWay(node)) return
    const answer = await useBudgets(tools, machine, severalBudgets)
    if (answer.isAllowed) await remedy.apply(machine, node)
    else tools.recorder.record(machine, 'Warning', 'RemediationRestricted', `Not remediated: ${answer.why}`)
  }

  function enqueueMachinesOf(node: Node): void {
    for (const machine of machinesOf(node.metadata.name)) queue.add(keyText(keyOf(machine)))
  }

  tools.onStop(machineView.subscribe(({ key, after }) => (after === undefined ? undefined : queue.add(key))))
  tools.onStop(
    nodeView.subscribe(({ before, after }) => {
      if (after !== undefined && isOtherHealth(before, after)) enqueueMachinesOf(after)
    }),
  )
  return {
    stop: tools.stop,
    controls: {
      remediated: () => remedy.done,
      setListening(on) {
        isListening = on
        for (const node of nodeView.values()) enqueueMachinesOf(node)
      },
    },
  }
}
