import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Scale } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { controllerOf, type KubeObject, type OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected, selectorText } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  deployments,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, openTools, writeStatus } from '../actor.ts'
import type { View } from '../view.ts'
import { decideBudgetStatus, failSafeStatus, needsScale } from './disruption-status.ts'
import { indexByNamespace } from './owned-pods.ts'

export interface DisruptionOptions {
  /** How long a change waits before budgets follow. The real controller needs about 10 ms. */
  readonly lagMs?: number
  /** The resource of a custom controller, for its scale. Without it, pods of such controllers cannot be budgeted. */
  readonly resourceOf?: (apiVersion: string, kind: string) => ResourceType | undefined
}

type Scaled = KubeObject & { readonly spec: { readonly replicas?: number } }

/**
 * Works out how many disruptions each PodDisruptionBudget allows.
 * As in the real controller, only pods and budgets wake it: one that was scaled counts once a pod of it changes.
 */
export function startDisruption(ports: ActorPorts & DisruptionOptions): Actor {
  const { lagMs = 10, resourceOf } = ports
  const tools = openTools('controllermanager', ports)
  const budgets = tools.views.of(podDisruptionBudgets)
  const podView = tools.views.of(pods)
  const deploymentView = tools.views.of(deployments)
  const setView = tools.views.of(replicaSets)
  const statefulView = tools.views.of(statefulSets)
  const budgetsIn = indexByNamespace(budgets)
  const podsIn = indexByNamespace(podView)
  const members = new Map<string, Map<string, Pod>>()
  const budgetsOfPod = new Map<string, readonly string[]>()
  const needs = [budgets, podView, deploymentView, setView, statefulView]
  const queue = tools.queue({ needs, work: reconcile, delayMs: lagMs })

  async function reconcile(key: string): Promise<void> {
    const budget = budgets.get(key)
    if (budget === undefined) return
    const selected = [...(members.get(key)?.values() ?? [])]
    try {
      await reportStatus(budget, selected, needsScale(budget) ? await expectedScale(budget, selected) : 0)
    } catch (error) {
      if (hasReason(error, 'Conflict', 'NotFound')) throw error
      await failSafe(budget, error)
    }
  }

  async function reportStatus(budget: PodDisruptionBudget, selected: readonly Pod[], scale: number): Promise<void> {
    if (selected.length === 0) tools.recorder.record(budget, 'Normal', 'NoPods', 'No matching pods found')
    const nowMs = tools.clock.now()
    const now = timestamp(tools.clock)
    const { status, recheckAtMs, notDeleted } = decideBudgetStatus({ budget, pods: selected, scale, nowMs, now })
    for (const pod of notDeleted) {
      const message = `Pod was expected by PDB ${keyText(keyOf(budget))} to be deleted but it wasn't`
      tools.recorder.record(pod, 'Warning', 'NotDeleted', message)
    }
    if (recheckAtMs !== undefined) queue.addAfter(keyText(keyOf(budget)), recheckAtMs - nowMs + 1)
    if (!isSameJson(status, budget.status)) await writeStatus(tools, podDisruptionBudgets, budget, status)
  }

  /** The wanted replicas of all distinct controllers of the pods; pods without one do not count. */
  async function expectedScale(budget: PodDisruptionBudget, selected: readonly Pod[]): Promise<number> {
    const scales = new Map<string, number>()
    const asked = new Set<string>()
    let hasUnmanaged = false
    for (const pod of selected) {
      const controller = controllerOf(pod)
      if (controller === undefined) hasUnmanaged = true
      if (controller === undefined || asked.has(controller.uid)) continue
      asked.add(controller.uid)
      const found = await scaleOf(controller, pod.metadata.namespace as string)
      if (found === undefined) throw new Error(`found no controllers for pod "${pod.metadata.name}"`)
      scales.set(found.uid, found.replicas)
    }
    if (hasUnmanaged) {
      const selector = selectorText(budget.spec.selector ?? {})
      const message =
        `Pods selected by this PodDisruptionBudget (selector: ${selector}) have no controller, so a percentage or ` +
        'maxUnavailable cannot take them into account; set .spec.minAvailable to a whole number to cover them.'
      tools.recorder.record(budget, 'Warning', 'UnmanagedPods', message)
    }
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0)
  }

  async function scaleOf(
    controller: OwnerReference,
    namespace: string,
  ): Promise<{ readonly uid: string; readonly replicas: number } | undefined> {
    const group = controller.apiVersion.split('/')[0]
    if (group === 'apps' && controller.kind === 'ReplicaSet') {
      const set = exactly(setView, controller, namespace)
      if (set === undefined) return undefined
      const owner = controllerOf(set)
      const deployment = owner?.kind === 'Deployment' ? exactly(deploymentView, owner, namespace) : undefined
      return replicasOf(deployment ?? set)
    }
    if (group === 'apps' && controller.kind === 'StatefulSet') {
      const set = exactly(statefulView, controller, namespace)
      return set === undefined ? undefined : replicasOf(set)
    }
    return askedScale(controller, namespace)
  }

  async function askedScale(controller: OwnerReference, namespace: string) {
    const { apiVersion, kind, name, uid } = controller
    const type = resourceOf?.(apiVersion, kind)
    if (type === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`)
    try {
      const scale = (await tools.api.get(type, { namespace, name }, { subresource: 'scale' })) as Scale
      return scale.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      const resource = type.group === '' ? type.plural : `${type.plural}.${type.group}`
      const exists = await tools.api.get(type, { namespace, name }).then(
        () => true,
        () => false,
      )
      if (exists) throw new Error(`${resource} does not implement the scale subresource`)
      return undefined
    }
  }

  async function failSafe(budget: PodDisruptionBudget, error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error)
    const reason = 'CalculateExpectedPodCountFailed'
    tools.recorder.record(budget, 'Warning', reason, `Failed to calculate the number of expected pods: ${message}`)
    const status = failSafeStatus(budget, message, timestamp(tools.clock))
    if (!isSameJson(status, budget.status)) await writeStatus(tools, podDisruptionBudgets, budget, status)
  }

  function matching(pod: Pod): string[] {
    return [...budgetsIn(pod.metadata.namespace ?? '')]
      .filter((budget) => isCovered(budget, pod))
      .map((budget) => keyText(keyOf(budget)))
  }

  function fillMembers(key: string, budget: PodDisruptionBudget): void {
    const selected = new Map<string, Pod>()
    members.set(key, selected)
    for (const pod of podsIn(budget.metadata.namespace ?? '')) {
      const podKey = keyText(keyOf(pod))
      const others = (budgetsOfPod.get(podKey) ?? []).filter((other) => other !== key)
      const isMember = isCovered(budget, pod)
      if (isMember) selected.set(podKey, pod)
      budgetsOfPod.set(podKey, isMember ? [...others, key] : others)
    }
  }

  tools.onStop(
    budgets.subscribe(({ key, before, after }) => {
      if (after === undefined) members.delete(key)
      else if (!isSameJson(before?.spec.selector, after.spec.selector) || before === undefined) fillMembers(key, after)
      if (after !== undefined) queue.add(key)
    }),
  )
  tools.onStop(
    podView.subscribe(({ key, before, after }) => {
      const held = budgetsOfPod.get(key) ?? []
      const hasSameLabels = after !== undefined && isSameJson(before?.metadata.labels, after.metadata.labels)
      const next = after === undefined ? [] : before !== undefined && hasSameLabels ? held : matching(after)
      for (const budget of held) if (!next.includes(budget)) members.get(budget)?.delete(key)
      for (const budget of next) if (after !== undefined) members.get(budget)?.set(key, after)
      if (after === undefined) budgetsOfPod.delete(key)
      else budgetsOfPod.set(key, next)
      for (const budget of after === undefined ? held : next) queue.add(budget)
    }),
  )

  return { stop: tools.stop }
}

function exactly<T extends KubeObject>(view: View<T>, { name, uid }: OwnerReference, namespace: string): T | undefined {
  const object = view.get(`${namespace}/${name}`)
  return object?.metadata.uid === uid ? object : undefined
}

function replicasOf(object: Scaled): { readonly uid: string; readonly replicas: number } {
  return { uid: object.metadata.uid as string, replicas: object.spec.replicas ?? 1 }
}

/** A budget without a selector takes no pods, one with an empty selector takes all of its namespace. */
function isCovered({ spec }: PodDisruptionBudget, pod: Pod): boolean {
  return spec.selector !== undefined && isSelected(spec.selector, pod.metadata.labels)
}
