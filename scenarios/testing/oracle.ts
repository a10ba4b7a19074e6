import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { CephMap } from '@cofferdam/product/safety/ceph-map.ts'
import type { Observed } from '@cofferdam/product/shared/observed.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { daemonName } from './drainer.ts'
import { groupsBelowFloor } from './groups-below-floor.ts'

export interface OraclePorts {
  readonly views: Views
  /** Of the Ceph cluster, where others may give their pods the labels of OSDs. */
  readonly namespace?: string
  /** The label that tells an OSD's failure domain. */
  readonly domainLabel: string
  readonly observeCeph: () => Promise<Observed<CephMap>>
  /** Nobody is there to finish a swap of budgets: two of them on one OSD refuse more than they should, and are safe. */
  readonly isUnattended: () => boolean
  /** How many looks in a row an OSD may be under two budgets: in real time a look may fall between two writes. Default none. */
  readonly overlapLooks?: number
  /**
   * OSDs that Ceph has marked down though they run, because the machine stood still: nobody has taken them. No placement group is judged until all
   * have recovered from it. Asked at every look; absent: there are none.
   */
  readonly stalledOsds?: (osds: CephMap['osds']) => readonly number[]
}

export interface Oracle {
  readonly violations: readonly string[]
  /** How often the placement groups could be seen. */
  readonly looks: () => number
  /** Looks at all that must hold whenever nothing is being written. */
  look(): void
  stop(): void
}

/**
 * Sees the true state and says where a promise was broken.
 *
 * Guarantees, once OSDs have had their first budget: whichever budget changes, running OSDs without one are of a single
 * failure domain, also between two writes; at rest no OSD has two budgets, which the eviction API would answer with 500;
 * no placement group falls below its floor.
 */
export function watchOver(ports: OraclePorts): Oracle {
  const { views, namespace, domainLabel, observeCeph, isUnattended, overlapLooks = 0, stalledOsds } = ports
  const overlaps = new Map<string, number>()
  const violations: string[] = []
  const budgets = views.of(podDisruptionBudgets)
  let isGuarded = false
  let isAsking = false
  let looks = 0
  let isRecovering = false
  let last: CephMap | undefined
  /** A pod or a budget has changed since the last look at them, or an OSD was under two budgets then. */
  let isRelevant = true
  const blame = (sentence: string) => {
    if (!violations.includes(sentence)) violations.push(sentence)
  }

  function lookForBareOsds(moment: string): void {
    const bare = runningOsds(views, namespace).filter((pod) => budgetsOf(pod, budgets.values()).length === 0)
    const domains = new Set(bare.map((pod) => pod.metadata.labels?.[domainLabel]))
    if (isGuarded && domains.size > 1) blame(`${moment}, ${bare.map(daemonName).join(', ')} had no budget`)
  }

  // Not awaited by whoever lets time pass: an answer may itself need time, as when no mgr is up.
  async function lookAtGroups(): Promise<void> {
    if (isAsking) return
    isAsking = true
    const map = await observeCeph()
    isAsking = false
    if (!map.known) return
    looks += 1
    const { pgs, pools, osds } = map.value
    const isStalled = (stalledOsds?.(osds).length ?? 0) > 0
    isRecovering ||= isStalled
    // Read again with the same parts: there is nothing that was not seen before.
    if (!isRecovering && last?.pgs === pgs && last.pools === pools && last.osds === osds) return
    last = map.value
    const below = groupsBelowFloor(map.value)
    isRecovering &&= isStalled || below.length > 0
    if (!isRecovering) for (const group of below) blame(`placement group ${group} was below its floor`)
  }

  function lookAtOsds(): void {
    isRelevant = false
    lookForBareOsds('at rest')
    for (const pod of runningOsds(views, namespace)) {
      const held = budgetsOf(pod, budgets.values())
      const name = daemonName(pod)
      if (held.length > 1) isRelevant = true
      const seen = held.length > 1 && !isUnattended() ? (overlaps.get(name) ?? 0) + 1 : 0
      overlaps.set(name, seen)
      if (seen > overlapLooks) blame(`${name} had ${held.length} budgets: ${held.join(', ')}`)
    }
  }

  const endPods = views.of(pods).subscribe(() => {
    isRelevant = true
  })
  const endBudgets = budgets.subscribe(({ key, after }) => {
    isRelevant = true
    if (runningOsds(views, namespace).some((pod) => budgetsOf(pod, budgets.values()).length > 0)) isGuarded = true
    lookForBareOsds(`when ${key} ${after === undefined ? 'went' : 'changed'}`)
  })
  return {
    violations,
    looks: () => looks,
    look() {
      if (isRelevant) lookAtOsds()
      void lookAtGroups()
    },
    stop() {
      endPods()
      endBudgets()
    },
  }
}

function runningOsds(views: Views, namespace: string | undefined): Pod[] {
  return [...views.of(pods).values()].filter(
    (pod) =>
      pod.metadata.labels?.['app'] === 'rook-ceph-osd' &&
      (namespace === undefined || pod.metadata.namespace === namespace) &&
      isActive(pod) &&
      isReady(pod),
  )
}

function budgetsOf(pod: Pod, budgets: Iterable<PodDisruptionBudget>): string[] {
  return [...budgets]
    .filter(({ metadata, spec }) => {
      const { selector } = spec
      return (
        selector !== undefined &&
        metadata.namespace === pod.metadata.namespace &&
        isSelected(selector, pod.metadata.labels)
      )
    })
    .map(({ metadata }) => metadata.name)
}
