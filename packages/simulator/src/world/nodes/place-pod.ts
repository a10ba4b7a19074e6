import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isNodeChosen } from '@cofferdam/kubernetes/api/node-affinity.ts'
import type { ClusterLoad, NodeLoad } from './cluster-load.ts'
import { podRequests } from './pod-requests.ts'
import { isTolerated, namedNodes, unschedulableTaint, untoleratedTaint } from './scheduling-rules.ts'
import { type CountingRule, isCounted, ruleOf, zoneLabel } from './topology-counts.ts'

export type Placement =
  | { readonly placed: true; readonly node: string }
  | { readonly placed: false; readonly message: string }

/** A reason against one node, or undefined when the pod may go there. */
type NodeCheck = (load: NodeLoad) => string | undefined

type Spread = NonNullable<Pod['spec']['topologySpreadConstraints']>[number]

const fewNodes = 100

/**
 * Chooses the node for a pod.
 *
 * Deterministic: the same cluster gives the same node; equal nodes go to the one that comes first by name. On large
 * clusters the search begins at `from` and ends when enough nodes have been found, as the real scheduler's does.
 */
export function placePod(cluster: ClusterLoad, pod: Pod, from = 0): Placement {
  const all = cluster.nodes()
  const checks = checksFor(cluster, pod)
  const named = namedNodes(pod.spec)
  const candidates = named === undefined ? all : named.flatMap((name) => cluster.node(name) ?? [])
  const enough = all.length <= fewNodes ? all.length : Math.max(fewNodes, Math.ceil(all.length / 20))
  const reasons = new Map<string, number>()
  const fitting: NodeLoad[] = []
  for (let step = 0; step < candidates.length && fitting.length < enough; step += 1) {
    const load = candidates[(from + step) % candidates.length] as NodeLoad
    const found = reasonsAgainst(checks, load, pod)
    if (found.length === 0) fitting.push(load)
    for (const reason of found) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  if (fitting.length > 0) return { placed: true, node: bestOf(cluster, pod, fitting) }
  const elsewhere = all.length - candidates.length
  if (elsewhere > 0) {
    const reason = "node(s) didn't match Pod's node affinity/selector"
    reasons.set(reason, (reasons.get(reason) ?? 0) + elsewhere)
  }
  return { placed: false, message: explainRefusal(all.length, reasons) }
}

function explainRefusal(nodeCount: number, reasons: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods'
  const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort()
  return `0/${nodeCount} nodes are available: ${parts.join(', ')}.`
}

function reasonsAgainst(checks: readonly NodeCheck[], load: NodeLoad, pod: Pod): string[] {
  for (const check of checks) {
    const reason = check(load)
    if (reason !== undefined) return [reason]
  }
  return shortages(load, pod)
}

/** Every resource that does not suffice is named, unlike the other checks, of which the first decides. */
function shortages({ allocatable, requested, podCount }: NodeLoad, pod: Pod): string[] {
  const short: string[] = []
  if (podCount + 1 > (allocatable.get('pods') ?? 110)) short.push('Too many pods')
  for (const [name, amount] of podRequests(pod.spec)) {
    // Sums of fractions of a core drift in the last digits.
    if (amount > 0 && (requested.get(name) ?? 0) + amount > (allocatable.get(name) ?? 0) + 1e-9) {
      short.push(`Insufficient ${name}`)
    }
  }
  return short
}

/** The checks that this pod needs, cheapest first; what depends on the pod alone is worked out once. */
function checksFor(cluster: ClusterLoad, pod: Pod): NodeCheck[] {
  const { spec } = pod
  const checks: NodeCheck[] = [
    ({ node }) =>
      node.spec?.unschedulable === true && !isTolerated(unschedulableTaint, spec.tolerations)
        ? 'node(s) were unschedulable'
        : undefined,
    ({ node }) =>
      untoleratedTaint(node, spec.tolerations) === undefined ? undefined : 'node(s) had untolerated taint(s)',
  ]
  if (spec.nodeSelector !== undefined || spec.affinity?.nodeAffinity !== undefined) {
    checks.push(({ node }) =>
      isNodeChosen(node, spec) ? undefined : "node(s) didn't match Pod's node affinity/selector",
    )
  }
  return [...checks, ...spreadChecks(cluster, pod), ...neighbourChecks(cluster, pod)]
}

function spreadRule(constraint: Spread, pod: Pod): CountingRule {
  const { labelSelector: selector, topologyKey } = constraint
  return { namespaces: [pod.metadata.namespace ?? ''], selector, topologyKey }
}

function spreadChecks(cluster: ClusterLoad, pod: Pod): NodeCheck[] {
  const constraints = pod.spec.topologySpreadConstraints ?? []
  const refused = "node(s) didn't match pod topology spread constraints"
  return constraints
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .map((constraint) => {
      const rule = spreadRule(constraint, pod)
      const counts = cluster.topology.countsOf(rule)
      const self = isCounted(rule, pod) ? 1 : 0
      const least = fewestPerDomain(cluster, pod, rule, counts)
      return ({ node }) => {
        const domain = node.metadata.labels?.[rule.topologyKey]
        if (domain === undefined) return `${refused} (missing required label)`
        return (counts.get(domain) ?? 0) + self - least > constraint.maxSkew ? refused : undefined
      }
    })
}

function fewestPerDomain(
  cluster: ClusterLoad,
  pod: Pod,
  rule: CountingRule,
  counts: ReadonlyMap<string, number>,
): number {
  let least = Number.POSITIVE_INFINITY
  for (const { node } of cluster.nodes()) {
    const domain = node.metadata.labels?.[rule.topologyKey]
    if (domain === undefined || least === 0) continue
    if (isNodeChosen(node, pod.spec)) least = Math.min(least, counts.get(domain) ?? 0)
  }
  return Number.isFinite(least) ? least : 0
}

function neighbourChecks(cluster: ClusterLoad, pod: Pod): NodeCheck[] {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {}
  const wanted = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const unwanted = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const checks: NodeCheck[] = []
  for (const { topologyKey, values } of cluster.topology.repelling(pod)) {
    checks.push(({ node }) =>
      values.has(node.metadata.labels?.[topologyKey] ?? '')
        ? "node(s) didn't satisfy existing pods anti-affinity rules"
        : undefined,
    )
  }
  for (const term of wanted) {
    const rule = ruleOf(term, pod)
    const counts = cluster.topology.countsOf(rule)
    // The first pod of a group that wants to be together finds nobody yet and may begin anywhere.
    const begins = counts.size === 0 && isCounted(rule, pod)
    checks.push(({ node }) => {
      const domain = node.metadata.labels?.[rule.topologyKey]
      const isMet = domain !== undefined && (begins || (counts.get(domain) ?? 0) > 0)
      return isMet ? undefined : "node(s) didn't match pod affinity rules"
    })
  }
  for (const term of unwanted) {
    const rule = ruleOf(term, pod)
    const counts = cluster.topology.countsOf(rule)
    checks.push(({ node }) =>
      (counts.get(node.metadata.labels?.[rule.topologyKey] ?? '') ?? 0) > 0
        ? "node(s) didn't match pod anti-affinity rules"
        : undefined,
    )
  }
  return checks
}

/** Prefers nodes far from pods of the same kind, then nodes with more left over, then the first by name. */
function bestOf(cluster: ClusterLoad, pod: Pod, fitting: readonly NodeLoad[]): string {
  const penalties = softRules(pod).map(({ rule, weight }) => ({
    key: rule.topologyKey,
    weight,
    counts: cluster.topology.countsOf(rule),
  }))
  const siblings = cluster.topology.siblingsOf(pod)
  let best: { readonly node: Node; readonly score: number } | undefined
  for (const { node, ...load } of fitting) {
    const zone = node.metadata.labels?.[zoneLabel] ?? ''
    // Pods of one owner are kept apart even when nobody asked for it.
    const crowding = 40 * (siblings.byNode.get(node.metadata.name) ?? 0) + 20 * (siblings.byZone.get(zone) ?? 0)
    let score = 100 * freeShare(load) - 50 * preferredAway(node, pod) - crowding
    for (const { key, weight, counts } of penalties)
      score -= weight * (counts.get(node.metadata.labels?.[key] ?? '') ?? 0)
    if (best === undefined || score > best.score || (score === best.score && isBefore(node, best.node))) {
      best = { node, score }
    }
  }
  return best?.node.metadata.name as string
}

function softRules(pod: Pod): { readonly rule: CountingRule; readonly weight: number }[] {
  const preferred = pod.spec.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const spread = pod.spec.topologySpreadConstraints ?? []
  return [
    ...preferred.map(({ weight, podAffinityTerm }) => ({ rule: ruleOf(podAffinityTerm, pod), weight: 2 * weight })),
    ...spread.map((constraint) => ({ rule: spreadRule(constraint, pod), weight: 100 })),
  ]
}

/** The mean share of cores and memory that is left; a node without either is left for the others. */
function freeShare({ allocatable, requested, podCount }: Omit<NodeLoad, 'node'>): number {
  const shares = ['cpu', 'memory'].map((name) => {
    const whole = allocatable.get(name) ?? 0
    return whole === 0 ? 0 : 1 - (requested.get(name) ?? 0) / whole
  })
  const pods = 1 - podCount / (allocatable.get('pods') ?? 110)
  return ((shares[0] as number) + (shares[1] as number) + pods) / 3
}

function preferredAway(node: Node, pod: Pod): number {
  const taints = node.spec?.taints ?? []
  return taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, pod.spec.tolerations))
    .length
}

function isBefore(a: Node, b: Node): boolean {
  return a.metadata.name < b.metadata.name
}
