import type { Node, Pod } from '../../api/core.ts'
import { controllerOf } from '../../api/kube-object.ts'
import { isSelected } from '../../api/label-selector.ts'
import type { PodDisruptionBudget } from '../../api/policy.ts'

export interface Suggestion {
  readonly says: string
  readonly lines: readonly string[]
}

/** Three things worth trying on this very cluster, with its own names. */
export function suggestCommands(cluster: {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  readonly budgets: readonly PodDisruptionBudget[]
}): Suggestion[] {
  const look = { says: 'See who runs where', lines: ['kubectl get pods -A -o wide'] }
  const guarded = cluster.budgets
    .map((budget) => placesOf(budget, cluster.pods))
    .filter(({ places }) => places.length > 0)
  const one = guarded[0]?.places[0] ?? cluster.nodes[0]?.metadata.name
  if (one === undefined) return [look]
  const drain = {
    says: 'Drain a node and watch its pods move',
    lines: [`kubectl drain ${one} --ignore-daemonsets`, `kubectl uncordon ${one}`],
  }
  // A StatefulSet replaces a pod only when the old one is gone, so there the second eviction surely has to wait.
  const pairs = guarded.filter(({ places }) => places.length > 1)
  const pair = pairs.find(({ isStateful }) => isStateful) ?? pairs[0]
  if (pair === undefined) return [look, drain]
  const two = pair.places.slice(0, 2).join(' ')
  const refuse = {
    says: `Drain two nodes that share a workload: budget ${pair.name} makes the second wait`,
    lines: [`kubectl drain ${two} --ignore-daemonsets`, `kubectl uncordon ${two}`],
  }
  return [look, drain, refuse]
}

function placesOf({ metadata, spec }: PodDisruptionBudget, pods: readonly Pod[]) {
  const { selector } = spec
  const covered = pods.filter(
    (pod) =>
      selector !== undefined &&
      pod.metadata.namespace === metadata.namespace &&
      pod.spec.nodeName !== undefined &&
      isSelected(selector, pod.metadata.labels),
  )
  return {
    name: `${metadata.namespace}/${metadata.name}`,
    isStateful: covered.some((pod) => controllerOf(pod)?.kind === 'StatefulSet'),
    places: [...new Set(covered.map((pod) => pod.spec.nodeName as string))].sort(),
  }
}
