import type { Node, Pod, PodAffinityTerm } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected, type LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { entryOf } from '../entry-of.ts'

/** Which pods a rule counts, and by which label of their nodes. */
export interface CountingRule {
  readonly namespaces: readonly string[]
  readonly selector: LabelSelector | undefined
  readonly topologyKey: string
}

export interface PlacedPod {
  readonly pod: Pod
  readonly node: Node
}

interface Counter {
  readonly rule: CountingRule
  readonly counts: Map<string, number>
}

/** Where pods of one owner are. */
export interface Siblings {
  readonly byNode: ReadonlyMap<string, number>
  readonly byZone: ReadonlyMap<string, number>
}

export const zoneLabel = 'topology.kubernetes.io/zone'
const rememberedRules = 1_000
const nobody: Siblings = { byNode: new Map(), byZone: new Map() }

export function ruleOf(term: PodAffinityTerm, pod: Pod): CountingRule {
  const own = [pod.metadata.namespace ?? '']
  const namespaces = term.namespaces === undefined || term.namespaces.length === 0 ? own : term.namespaces
  return { namespaces, selector: term.labelSelector, topologyKey: term.topologyKey }
}

export function isCounted(rule: CountingRule, pod: Pod): boolean {
  return (
    rule.selector !== undefined &&
    rule.namespaces.includes(pod.metadata.namespace ?? '') &&
    isSelected(rule.selector, pod.metadata.labels)
  )
}

function ruleText({ namespaces, selector, topologyKey }: CountingRule): string {
  return JSON.stringify([namespaces, selector ?? null, topologyKey])
}

/**
 * How many pods of a kind run per zone, per node or per any other node label. A rule is counted in full when it is
 * first asked for and kept up to date from then on, so asking again costs nothing however many pods there are.
 */
export class TopologyCounts {
  readonly #placed: () => Iterable<PlacedPod>
  readonly #counters = new Map<string, Counter>()
  /** For each distinct required anti-affinity term of a placed pod: where such pods are. */
  readonly #repelling = new Map<string, Counter>()

  readonly #siblings = new Map<string, { readonly byNode: Map<string, number>; readonly byZone: Map<string, number> }>()

  constructor(placed: () => Iterable<PlacedPod>) {
    this.#placed = placed
  }

  countsOf(rule: CountingRule): ReadonlyMap<string, number> {
    const text = ruleText(rule)
    let counter = this.#counters.get(text)
    if (counter === undefined) {
      counter = { rule, counts: new Map() }
      this.#counters.set(text, counter)
      if (this.#counters.size > rememberedRules) this.#counters.delete(this.#counters.keys().next().value as string)
      for (const { pod, node } of this.#placed()) if (isCounted(rule, pod)) bump(counter, node, 1)
    }
    return counter.counts
  }

  /** The places where pods run that do not want this one near them. */
  repelling(pod: Pod): { readonly topologyKey: string; readonly values: ReadonlyMap<string, number> }[] {
    return [...this.#repelling.values()]
      .filter(({ rule, counts }) => counts.size > 0 && isCounted(rule, pod))
      .map(({ rule, counts }) => ({ topologyKey: rule.topologyKey, values: counts }))
  }

  siblingsOf(pod: Pod): Siblings {
    return this.#siblings.get(controllerOf(pod)?.uid ?? '') ?? nobody
  }

  add({ pod, node }: PlacedPod): void {
    this.#change(pod, node, 1)
  }

  remove({ pod, node }: PlacedPod): void {
    this.#change(pod, node, -1)
  }

  /** Forgets all counts, after the labels of a node have changed. */
  reset(): void {
    this.#counters.clear()
    this.#repelling.clear()
    this.#siblings.clear()
    for (const { pod, node } of this.#placed()) this.#change(pod, node, 1)
  }

  #change(pod: Pod, node: Node, by: number): void {
    for (const counter of this.#counters.values()) if (isCounted(counter.rule, pod)) bump(counter, node, by)
    this.#changeRepelling(pod, node, by)
    this.#changeSiblings(pod, node, by)
  }

  #changeSiblings(pod: Pod, node: Node, by: number): void {
    const owner = controllerOf(pod)?.uid
    if (owner === undefined) return
    const siblings = entryOf(this.#siblings, owner, () => ({ byNode: new Map(), byZone: new Map() }))
    change(siblings.byNode, node.metadata.name, by)
    change(siblings.byZone, node.metadata.labels?.[zoneLabel], by)
    if (siblings.byNode.size === 0) this.#siblings.delete(owner)
  }

  #changeRepelling(pod: Pod, node: Node, by: number): void {
    const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    for (const term of terms) {
      const rule = ruleOf(term, pod)
      const text = ruleText(rule)
      const counter = entryOf(this.#repelling, text, () => ({ rule, counts: new Map() }))
      bump(counter, node, by)
      if (counter.counts.size === 0) this.#repelling.delete(text)
    }
  }
}

function bump({ rule, counts }: Counter, node: Node, by: number): void {
  change(counts, node.metadata.labels?.[rule.topologyKey], by)
}

function change(counts: Map<string, number>, value: string | undefined, by: number): void {
  if (value === undefined) return
  const count = (counts.get(value) ?? 0) + by
  if (count === 0) counts.delete(value)
  else counts.set(value, count)
}
