import type { DaemonSet, Deployment, StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  daemonSets,
  deployments,
  nodes,
  podDisruptionBudgets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

export interface ClusterState {
  readonly nodes: readonly Node[]
  readonly deployments: readonly Deployment[]
  readonly statefulSets: readonly StatefulSet[]
  readonly daemonSets: readonly DaemonSet[]
  readonly budgets: readonly PodDisruptionBudget[]
}

export interface Readiness {
  readonly ready: number
  readonly wanted: number
  /** What is not there yet, in words; empty when all is. */
  readonly waitingFor: readonly string[]
}

interface Part {
  readonly name: string
  readonly ready: number
  readonly wanted: number
}

/** Whether every node is up, every workload has all its pods ready, and every budget has been counted. */
export function judgeReadiness(state: ClusterState): Readiness {
  const parts: Part[] = [
    { name: 'nodes', ready: state.nodes.filter(isReadyNode).length, wanted: state.nodes.length },
    ...[...state.deployments, ...state.statefulSets].map((set) => {
      const wanted = set.spec.replicas ?? 1
      return {
        name: nameOf(set),
        ready: isObserved(set) ? Math.min(wanted, set.status?.readyReplicas ?? 0) : 0,
        wanted,
      }
    }),
    ...state.daemonSets.map((set) => {
      // Before its controller has counted, a DaemonSet wants none: at least one, or it would count as done.
      const wanted = isObserved(set) ? (set.status?.desiredNumberScheduled ?? 1) : 1
      return { name: nameOf(set), ready: isObserved(set) ? (set.status?.numberReady ?? 0) : 0, wanted }
    }),
  ]
  const uncounted = state.budgets.filter((budget) => !isObserved(budget))
  return {
    ready: sum(parts, ({ ready }) => ready),
    wanted: sum(parts, ({ wanted }) => wanted),
    waitingFor: [
      ...parts
        .filter(({ ready, wanted }) => ready < wanted)
        .map((part) => `${part.name} (${part.ready} of ${part.wanted})`),
      ...uncounted.map((budget) => `the count of budget ${nameOf(budget)}`),
    ],
  }
}

/** Storage is asked when everything else is up: before, its pods show what is missing. */
export async function observeReadiness(
  api: KubeApi,
  storage: readonly { observeMissing(): Promise<string[]> }[] = [],
): Promise<Readiness> {
  const [nodeList, deploymentList, statefulList, daemonList, budgetList] = await Promise.all([
    api.list(nodes),
    api.list(deployments),
    api.list(statefulSets),
    api.list(daemonSets),
    api.list(podDisruptionBudgets),
  ])
  const readiness = judgeReadiness({
    nodes: nodeList.items,
    deployments: deploymentList.items,
    statefulSets: statefulList.items,
    daemonSets: daemonList.items,
    budgets: budgetList.items,
  })
  if (readiness.waitingFor.length > 0) return readiness
  const missing = await Promise.all(storage.map((each) => each.observeMissing()))
  return { ...readiness, waitingFor: missing.flat() }
}

function isReadyNode(node: Node): boolean {
  return conditionOf(node, 'Ready')?.status === 'True'
}

function isObserved(object: KubeObject & { readonly status?: { readonly observedGeneration?: number } }): boolean {
  return (object.status?.observedGeneration ?? -1) >= (object.metadata.generation ?? 0)
}

function nameOf(object: KubeObject): string {
  return keyText(keyOf(object))
}

function sum<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((total, item) => total + amount(item), 0)
}
