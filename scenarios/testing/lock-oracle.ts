import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { doClaimsConflict } from '@cofferdam/product/ledger/rules/claim.ts'
import type { Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { parseLedger } from '@cofferdam/product/ledger/rules/parse-ledger.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'

export interface LockOraclePorts {
  readonly views: Views
  /** Whether the machine runs, whatever the API server has heard of it. */
  readonly isOn: (node: string) => boolean
}

export interface LockOracle {
  readonly violations: readonly string[]
  /** Looks at all that must hold whenever nothing is being written. */
  look(): void
  stop(): void
}

/**
 * Sees the true state and says where a promise was broken.
 *
 * Guarantees: every application keeps what its budget, as it was at first, asks for, counting nobody on a machine that is
 * off; no two requests hold keys that conflict; the key of a node is held while its machine is off, and while its request
 * says that it may go; then the pods that stay on it count as gone for everybody else.
 */
export function watchLocks({ views, isOn }: LockOraclePorts): LockOracle {
  const violations: string[] = []
  const limits = new Map<string, PodDisruptionBudget['spec']>()
  const ledgers = views.of(disruptionLedgers)
  const requests = views.of(nodeDisruptions)
  const budgets = views.of(podDisruptionBudgets)
  const blame = (sentence: string) => {
    if (!violations.includes(sentence)) violations.push(sentence)
  }

  function ledger(): Ledger | undefined {
    const parsed = parseLedger(ledgers.get(ledgerName))
    return parsed.known ? parsed.value : undefined
  }

  const end = ledgers.subscribe(() => {
    const { entries = [] } = ledger() ?? {}
    for (const [index, entry] of entries.entries()) {
      const rival = entries
        .slice(index + 1)
        .find((other) => other.requestId !== entry.requestId && doClaimsConflict(entry, other))
      if (rival !== undefined) blame(`${entry.holder} and ${rival.holder} both held ${entry.key}`)
    }
  })

  function lookAtApplications(): void {
    for (const budget of budgets.values()) {
      const name = `${budget.metadata.namespace}/${budget.metadata.name}`
      const limit = limits.get(name) ?? budget.spec
      limits.set(name, limit)
      const up = podsOf(views, budget).filter((pod) => isActive(pod) && isReady(pod) && isOn(pod.spec.nodeName ?? ''))
      const needed = neededBy(limit, budget.status?.expectedPods ?? 0)
      if (up.length < needed) blame(`${name} had ${up.length} pods that run, and needs ${needed}`)
    }
  }

  function lookAtNodes(): void {
    const held = ledger()
    if (held === undefined) return
    for (const { metadata } of views.of(nodes).values()) {
      const key = `node/${metadata.name}`
      const isHeld = held.entries.some((entry) => entry.key === key) || held.broken.some((each) => each.key === key)
      if (!isOn(metadata.name) && !isHeld) blame(`${metadata.name} was off, and nobody held it`)
    }
    for (const request of requests.values()) if (request.status?.phase === 'Drained') lookAtWord(request, held)
  }

  /** Whoever reads on record that the node may go takes it down. */
  function lookAtWord({ metadata, spec, status }: NodeDisruption, { entries, broken }: Ledger): void {
    const { nodeName } = spec
    const own = entries.filter(({ requestId }) => requestId === metadata.uid)
    // An administrator took the key: the word is withdrawn as soon as an operator is there again.
    const isTaken = broken.some(
      ({ key, formerHolder }) => key === `node/${nodeName}` && formerHolder.endsWith(`nodedisruption/${metadata.name}`),
    )
    if (isTaken) return
    if (!own.some(({ key, state }) => key === `node/${nodeName}` && state !== 'Granted'))
      blame(`${metadata.name} said that ${nodeName} may go, and did not hold it`)
    for (const { namespace, name, uid } of status?.skippedPods ?? []) {
      const pod = views.of(pods).get(`${namespace}/${name}`)
      if (pod === undefined || pod.metadata.uid !== uid || !isReady(pod)) continue
      const unaware = [...budgets.values()].filter(
        (budget) => podsOf(views, budget).includes(pod) && !Object.hasOwn(budget.status?.disruptedPods ?? {}, name),
      )
      for (const budget of unaware) blame(`${budget.metadata.name} did not count ${name} as gone, whose node may go`)
    }
  }

  return {
    violations,
    look() {
      lookAtApplications()
      lookAtNodes()
    },
    stop: end,
  }
}

function podsOf(views: Views, { metadata, spec }: PodDisruptionBudget): Pod[] {
  const { selector } = spec
  if (selector === undefined) return []
  return [...views.of(pods).values()].filter(
    (pod) => pod.metadata.namespace === metadata.namespace && isSelected(selector, pod.metadata.labels),
  )
}

function neededBy({ minAvailable, maxUnavailable }: PodDisruptionBudget['spec'], expected: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, expected - scaledValue(maxUnavailable, expected))
  return scaledValue(minAvailable ?? 0, expected)
}
