import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { SimulatedCeph } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import type { FencingFixture } from './fencing-fixture.ts'
import { groupsBelowFloor } from './groups-below-floor.ts'
import { controlNodes, shop } from './hundred-nodes.ts'
import { isOver } from './rolling-tools.ts'

export interface RollingOracle {
  readonly violations: readonly string[]
  /** How many nodes were down at once, at most. */
  readonly mostDown: () => number
  /** A machine dies that nobody decided over: what ran there is nobody's fault. */
  mishap(node: string): void
  look(): void
  /** What is left that should not be, once everybody has gone home. */
  leftovers(): string[]
}

/** How long an application may lack what a dead machine took from it. */
const excusedMs = 15 * 60_000
/** How long a request may say nothing: an operator may be dead, frozen, or busy with a hundred others. */
const silenceMs = 5 * 60_000
/** Asking Ceph costs most. */
const dataEvery = 5

/**
 * Sees what really runs, and says where rolling reboots broke a promise: an application below its budget, a node that was drained for a
 * reboot taken by a remediator, two nodes of the control plane down at once, data that clients cannot reach, a request that neither goes
 * on nor says why.
 */
export function watchRolling({ views, world, clock, remediator, ceph, trace }: FencingFixture): RollingOracle {
  const violations: string[] = []
  const excusedUntil = new Map<string, number>()
  const needs = new Map<string, number>()
  const judged = new Set<string>()
  const silentSince = new Map<string, number>()
  const startMs = clock.now()
  let mostDown = 0
  let looks = 0
  let isAsking = false
  let dataExcusedUntil = 0
  const { isOn } = world.kubelet
  const blame = (sentence: string) => {
    if (violations.some((known) => known.endsWith(sentence))) return
    violations.push(`t+${Math.round((clock.now() - startMs) / 1_000)}s: ${sentence}`)
    trace.tell(`BROKEN: ${sentence}`)
  }

  const budgetsOfShop = () =>
    [...views.of(podDisruptionBudgets).values()].filter(({ metadata }) => metadata.namespace === shop)
  const podsOfShop = () => [...views.of(pods).values()].filter(({ metadata }) => metadata.namespace === shop)

  function lookAtApplications(): void {
    const all = podsOfShop()
    for (const { metadata, spec, status } of budgetsOfShop()) {
      const expected = status?.expectedPods ?? 0
      const known = expected > 0 ? expected - scaledValue(spec.maxUnavailable ?? 0, expected) : 0
      const needed = Math.max(known, needs.get(metadata.name) ?? 0)
      needs.set(metadata.name, needed)
      if ((excusedUntil.get(metadata.name) ?? 0) > clock.now()) continue
      const up = all.filter(
        (pod) =>
          isSelected(spec.selector ?? {}, pod.metadata.labels) &&
          isActive(pod) &&
          isReady(pod) &&
          isOn(pod.spec.nodeName ?? ''),
      )
      if (up.length < needed) blame(`${metadata.name} had ${up.length} pods that run, and needs ${needed}`)
    }
  }

  function lookAtControlPlane(): void {
    const down = controlNodes.filter((name) => !isOn(name))
    if (down.length > 1) blame(`${down.join(' and ')} of the control plane were down together`)
  }

  function lookAtRemediation(): void {
    for (const { node, atMs } of remediator?.controls.remediated() ?? []) {
      const id = `${node} ${atMs}`
      if (judged.has(id)) continue
      judged.add(id)
      const planned = [...views.of(nodeDisruptions).values()].find(
        ({ spec, status }) => spec.nodeName === node && spec.intent === 'Reboot' && status?.phase === 'Drained',
      )
      if (planned !== undefined) blame(`${node} was fenced while ${planned.metadata.name} had it drained for a reboot`)
    }
  }

  function lookAtRequests(): void {
    for (const { metadata, spec, status } of views.of(nodeDisruptions).values()) {
      const { phase, blockedBy = [] } = status ?? {}
      if (isOver(phase) || blockedBy.length > 0) {
        silentSince.delete(metadata.name)
        continue
      }
      const since = silentSince.get(metadata.name) ?? clock.now()
      silentSince.set(metadata.name, since)
      if (clock.now() - since > silenceMs)
        blame(`${metadata.name} for ${spec.nodeName} is ${phase} and does not say why`)
    }
  }

  async function lookAtData(): Promise<void> {
    if (clock.now() < dataExcusedUntil) return
    const seen = await observeCeph((ceph[0] as SimulatedCeph).commands)
    const lost = seen.known ? groupsBelowFloor(seen.value) : []
    if (lost.length > 0 && clock.now() >= dataExcusedUntil)
      blame(`clients cannot reach placement groups ${lost.join(', ')}`)
  }

  return {
    violations,
    mostDown: () => mostDown,
    mishap(node) {
      if (node.startsWith('storage')) dataExcusedUntil = clock.now() + excusedMs
      const lost = podsOfShop().filter((pod) => pod.spec.nodeName === node)
      for (const { metadata, spec } of budgetsOfShop()) {
        const isHit = lost.some((pod) => isSelected(spec.selector ?? {}, pod.metadata.labels))
        if (isHit) excusedUntil.set(metadata.name, clock.now() + excusedMs)
      }
    },
    look() {
      const down = [...views.of(nodes).values()].filter(({ metadata }) => !isOn(metadata.name)).length
      mostDown = Math.max(mostDown, down)
      lookAtApplications()
      lookAtControlPlane()
      lookAtRemediation()
      lookAtRequests()
      looks += 1
      if (isAsking || looks % dataEvery !== 0) return
      isAsking = true
      // Without a mgr the answer takes time, which passes only when nobody waits here.
      void lookAtData().finally(() => {
        isAsking = false
      })
    },
    leftovers() {
      const { entries = [], tickets = [] } = views.of(disruptionLedgers).get(ledgerName)?.status ?? {}
      const cordoned = [...views.of(nodes).values()].filter(({ spec }) => spec?.unschedulable === true)
      const marked = budgetsOfShop().filter(
        ({ metadata }) => metadata.annotations?.['cofferdam.io/held-by'] !== undefined,
      )
      const open = [...views.of(nodeDisruptions).values()].filter(({ status }) => !isOver(status?.phase))
      return [
        ...entries.map(({ key, holder }) => `${key} is held by ${holder}`),
        ...tickets.map(({ holder }) => `${holder} waits`),
        ...cordoned.map(({ metadata }) => `${metadata.name} is cordoned`),
        ...marked.map(({ metadata }) => `${metadata.name} is held`),
        ...open.map(
          ({ metadata, status }) => `${metadata.name} is ${status?.phase}: ${JSON.stringify(status?.blockedBy)}`,
        ),
      ]
    },
  }
}
