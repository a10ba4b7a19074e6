import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  type MachineHealthCheck,
  machineDisruptionBudgets,
  nodeHealthChecks,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { leases, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { fenceLabelPrefix } from '@cofferdam/product/capabilities/fencing/domain/fence-labels.ts'
import {
  hookName,
  leaseHolder,
  pausedAnnotation,
  pauseRequest,
  skipAnnotation,
} from '@cofferdam/product/capabilities/fencing/domain/marks.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { MachineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { daemonName } from './drainer.ts'
import type { Trace } from './trace.ts'

/** Tells of machines, their budgets and labels, gates, nodes and OSDs as they change, in the order in which the API server does. */
export function recordFencing(views: Views, kinds: MachineKinds, { tell }: Pick<Trace, 'tell'>): () => void {
  // A view first tells what it holds already.
  let isRelevant = false
  const each = <T>(say: (before: T | undefined, after: T | undefined) => readonly string[]) => {
    return ({ before, after }: { before: T | undefined; after: T | undefined }) => {
      if (isRelevant) for (const line of say(before, after)) tell(line)
    }
  }
  const ends = [
    views.of(machineDisruptionBudgets).subscribe(each(budgetLines)),
    views.of(kinds.machines).subscribe(each(machineLines)),
    views.of(kinds.healthChecks).subscribe(each(checkLines)),
    views
      .of(nodeHealthChecks)
      .subscribe(
        each((before, after) =>
          turn(
            before?.spec?.pauseRequests?.includes(pauseRequest),
            after?.spec?.pauseRequests?.includes(pauseRequest),
            [`${after?.metadata.name} is asked to pause`, `${after?.metadata.name} may go on`],
          ),
        ),
      ),
    views.of(leases).subscribe(
      each((before, after) => {
        const name = (after ?? before)?.metadata.name ?? ''
        const isHeld = (lease: typeof after) => lease?.spec?.holderIdentity === leaseHolder
        return turn(isHeld(before), isHeld(after), [`lease ${name} is held`, `lease ${name} is free`])
      }),
    ),
    views.of(nodes).subscribe(each(nodeLines)),
    views.of(pods).subscribe(each(podLines)),
  ]
  isRelevant = true
  return () => {
    for (const end of ends) end()
  }
}

/** The first line when it became so, the second when it no longer is. */
function turn(was: boolean | undefined, is: boolean | undefined, [on, off]: readonly [string, string]): string[] {
  if ((was ?? false) === (is ?? false)) return []
  return [is === true ? on : off]
}

export function budgetText({ spec, status }: MachineDisruptionBudget): string {
  const { disruptionsAllowed = '-', currentHealthy = '-', desiredHealthy = '-', expectedMachines = '-' } = status ?? {}
  const gone = Object.keys(status?.disruptedMachines ?? {})
  const counts = `${disruptionsAllowed} allowed, ${currentHealthy} of ${expectedMachines} healthy, ${desiredHealthy} wanted`
  return `maxUnavailable ${spec?.maxUnavailable}: ${counts}${gone.length === 0 ? '' : `, without ${gone.join(', ')}`}`
}

function budgetLines(
  before: MachineDisruptionBudget | undefined,
  after: MachineDisruptionBudget | undefined,
): string[] {
  const name = `budget ${(after ?? before)?.metadata.name}`
  if (after === undefined) return [`${name} disappeared`]
  const text = budgetText(after)
  if (before === undefined) return [`${name} appeared (${text})`]
  return budgetText(before) === text ? [] : [`${name} (${text})`]
}

function machineLines(before: Machine | undefined, after: Machine | undefined): string[] {
  const name = `machine ${(after ?? before)?.metadata.name}`
  if (after === undefined) return [`${name} is gone`]
  if (before === undefined) return [`${name} is ordered`]
  const labelsOf = ({ metadata }: Machine) =>
    Object.keys(metadata.labels ?? {}).filter((key) => key.startsWith(fenceLabelPrefix))
  const isHooked = ({ spec }: Machine) => spec?.lifecycleHooks?.preTerminate?.some((hook) => hook.name === hookName)
  const isSkipped = ({ metadata }: Machine) => metadata.annotations?.[skipAnnotation] !== undefined
  const [had, has] = [labelsOf(before), labelsOf(after)]
  const node = after.status?.nodeRef?.name
  return [
    ...has.filter((key) => !had.includes(key)).map((key) => `${name} is labelled ${key}`),
    ...had.filter((key) => !has.includes(key)).map((key) => `${name} loses label ${key}`),
    ...turn(isSkipped(before), isSkipped(after), [`${name} is to be skipped`, `${name} is skipped no more`]),
    ...turn(isHooked(before), isHooked(after), [`${name} is hooked`, `${name} is unhooked`]),
    ...turn(before.metadata.deletionTimestamp !== undefined, after.metadata.deletionTimestamp !== undefined, [
      `${name} is deleted`,
      `${name} is not deleted`,
    ]),
    ...(before.status?.nodeRef?.name === node || node === undefined ? [] : [`${name} has node ${node}`]),
  ]
}

function checkLines(before: MachineHealthCheck | undefined, after: MachineHealthCheck | undefined): string[] {
  const isPaused = (check: MachineHealthCheck | undefined) =>
    check?.metadata.annotations?.[pausedAnnotation] !== undefined
  const name = `health check ${(after ?? before)?.metadata.name}`
  return turn(isPaused(before), isPaused(after), [`${name} is paused`, `${name} goes on`])
}

function nodeLines(before: Node | undefined, after: Node | undefined): string[] {
  const { name } = (after ?? before)?.metadata ?? { name: '' }
  if (after === undefined) return [`node ${name} is gone`]
  const readyOf = (node: Node | undefined) => node && (conditionOf(node, 'Ready')?.status ?? 'unheard of')
  const [was, is] = [readyOf(before), readyOf(after)]
  if (is === 'unheard of' || was === is) return []
  return [`node ${name} is ${is === 'True' ? 'Ready' : is === 'False' ? 'NotReady' : 'silent'}`]
}

function podLines(before: Pod | undefined, after: Pod | undefined): string[] {
  const pod = after ?? before
  if (pod?.metadata.labels?.['app'] !== 'rook-ceph-osd') return []
  const name = daemonName(pod)
  if (after === undefined) return [`${name} has left ${before?.spec.nodeName ?? 'before it had a node'}`]
  if (before !== undefined && isActive(before) && !isActive(after)) return [`${name} is told to go`]
  const [was, is] = [before !== undefined && isReady(before), isReady(after)]
  return turn(was, is, [`${name} is ready on ${after.spec.nodeName}`, `${name} is no longer ready`])
}
