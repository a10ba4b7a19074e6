import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine, MachineHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { openTools, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import type { Remediator, RemediatorPorts } from './budget-health-check.ts'
import { decideHealthCheck, type HealthCheckDecision, type Target } from './health-check-decision.ts'
import { type MachineApi, machineKinds } from './machine-kinds.ts'
import { Remedy, type RemedyKind } from './remedy.ts'
import { isOtherHealth } from './sick-nodes.ts'

export interface ModernHealthChecksOptions {
  /** Default `openshift`. */
  readonly api?: MachineApi
  /** Version of Cluster API; default the newest. */
  readonly version?: string
  /** Default `delete`. */
  readonly remedy?: RemedyKind
  readonly isListening?: boolean
}

const paused = 'cluster.x-k8s.io/paused'
const skipRemediation = 'cluster.x-k8s.io/skip-remediation'
/** How soon a check reconciles again while machines are sick. */
const recheckMs = 60_000

/** The health checks of today, of one API: all MachineHealthCheck objects there are. */
export function createModernHealthChecks(ports: RemediatorPorts, options: ModernHealthChecksOptions = {}): Remediator {
  const kinds = machineKinds(options.api ?? 'openshift', options.version)
  const isClusterApi = kinds.api === 'cluster-api'
  const tools = openTools('machine-health-check', ports)
  const checkView = tools.views.of(kinds.healthChecks)
  const machineView = tools.views.of(kinds.machines)
  const nodeView = tools.views.of(nodes)
  const machinesIn = machineView.indexBy('namespace', ({ metadata }) => [metadata.namespace ?? ''])
  const remedy = new Remedy({
    tools,
    kind: options.remedy ?? 'delete',
    machines: kinds.machines,
    powerCycle: ports.powerCycle,
  })
  const queue = tools.queue({ needs: [checkView, machineView, nodeView], work: reconcile, concurrency: 1 })
  let isListening = options.isListening ?? true

  async function reconcile(key: string): Promise<void> {
    const check = checkView.get(key)
    if (!isListening || check === undefined) return
    if (check.metadata.annotations?.[paused] !== undefined) {
      if (isClusterApi) await report(check, { ...check.status, conditions: pausedCondition(check, 'True') })
      return
    }
    const decision = decideHealthCheck(check, targetsOf(check), tools.clock.now())
    const current = await report(check, statusOf(check, decision))
    if (decision.recheckAtMs !== undefined) queue.addAfter(key, decision.recheckAtMs - tools.clock.now())
    if (decision.sick.length === 0) return
    queue.addAfter(key, recheckMs)
    if (!decision.isAllowed) {
      tools.recorder.record(current, 'Warning', 'RemediationRestricted', restriction(decision))
      return
    }
    for (const { machine, node } of decision.sick) {
      if (node === undefined || !remedy.isUnderWay(node)) await remedy.apply(machine, node)
    }
  }

  function targetsOf({ metadata, spec }: MachineHealthCheck): Target[] {
    const selector = spec?.selector
    if (selector === undefined) return []
    return [...machinesIn(metadata.namespace ?? '')]
      .filter((machine) => isSelected(selector, machine.metadata.labels) && !isSpared(machine))
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map((machine) => ({ machine, node: nodeView.get(machine.status?.nodeRef?.name ?? '') }))
  }

  /** Known to Cluster API only; there such machines are not even counted. */
  function isSpared({ metadata: { annotations = {} } }: Machine): boolean {
    return isClusterApi && (annotations[skipRemediation] !== undefined || annotations[paused] !== undefined)
  }

  function statusOf(
    check: MachineHealthCheck,
    decision: HealthCheckDecision,
  ): NonNullable<MachineHealthCheck['status']> {
    const { expectedMachines, currentHealthy, remediationsAllowed, isAllowed } = decision
    const permission = {
      type: 'RemediationAllowed',
      status: isAllowed ? ('True' as const) : ('False' as const),
      ...(isAllowed ? {} : { reason: 'TooManyUnhealthy', message: restriction(decision) }),
      lastTransitionTime: timestamp(tools.clock),
    }
    return {
      ...check.status,
      expectedMachines,
      currentHealthy,
      remediationsAllowed,
      ...(isClusterApi ? { observedGeneration: check.metadata.generation ?? 0 } : {}),
      conditions: withCondition(
        isClusterApi ? pausedCondition(check, 'False') : check.status?.conditions,
        permission as Condition & { lastTransitionTime: string },
      ),
    }
  }

  function pausedCondition({ status }: MachineHealthCheck, is: 'True' | 'False'): readonly Condition[] {
    const reason = is === 'True' ? 'Paused' : 'NotPaused'
    const lastTransitionTime = timestamp(tools.clock)
    return withCondition<Condition>(status?.conditions, { type: 'Paused', status: is, reason, lastTransitionTime })
  }

  async function report(check: MachineHealthCheck, status: NonNullable<MachineHealthCheck['status']>) {
    return isSameJson(status, check.status ?? {}) ? check : writeStatus(tools, kinds.healthChecks, check, status)
  }

  function enqueueAll(): void {
    for (const [key] of namesOfChecks()) queue.add(key)
  }

  function namesOfChecks(): [string, MachineHealthCheck][] {
    return [...checkView.values()].map((check) => [`${check.metadata.namespace}/${check.metadata.name}`, check])
  }

  function enqueueChecksOf(machine: Machine): void {
    for (const [key, { metadata }] of namesOfChecks()) {
      if (metadata.namespace === machine.metadata.namespace) queue.add(key)
    }
  }

  tools.onStop(checkView.subscribe(({ key, after }) => (after === undefined ? undefined : queue.add(key))))
  tools.onStop(machineView.subscribe(({ before, after }) => enqueueChecksOf((after ?? before) as Machine)))
  tools.onStop(
    nodeView.subscribe(({ before, after }) => {
      if (isOtherHealth(before, after)) enqueueAll()
    }),
  )
  return {
    stop: tools.stop,
    controls: {
      remediated: () => remedy.done,
      setListening(on) {
        isListening = on
        enqueueAll()
      },
    },
  }
}

function restriction({ expectedMachines, currentHealthy }: HealthCheckDecision): string {
  return `Remediation is not allowed: ${expectedMachines - currentHealthy} of ${expectedMachines} machines are not healthy, more than maxUnhealthy`
}
