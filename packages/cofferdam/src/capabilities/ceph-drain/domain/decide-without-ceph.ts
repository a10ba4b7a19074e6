import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { freeRule } from '../../../ledger/rules/storage-arbiter.ts'
import { domainTypeInUse } from '../../../safety/domain-type.ts'
import { unknown } from '../../../shared/observed.ts'
import { answerDomains } from './answers.ts'
import type { CephDrainDecision } from './decision.ts'
import { fewNames, layOut } from './layout.ts'
import { asWanted, type WantedBudget } from './osd-budgets.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import { turnOf } from './storage-turn.ts'
import { alsoHolding, blockingBudgets, coverOf, defaultBudget } from './wanted-budgets.ts'

/**
 * Decides while Ceph does not answer.
 *
 * For a short while everything stays as it is: a manager that restarts must not make budgets flap. After that nothing more
 * may go down. Nothing is ever released on this path, and what is missing is put back.
 */
export function decideWithoutCeph(snapshot: CephDrainSnapshot): CephDrainDecision {
  const { cluster, state, nowMs, cephSilentMs } = snapshot
  const { failureDomainOverride, silenceGraceMs } = cluster.settings
  const ours = snapshot.budgets.filter(({ isOurs }) => isOurs)
  const lastKnown = snapshot.ceph.known ? snapshot.ceph.value.failureDomainType : undefined
  const standing = ours.flatMap(({ selector }) => (selector.covers === 'domain' ? [selector.type] : []))
  const type = domainTypeInUse(failureDomainOverride, lastKnown ?? standing)
  // What Ceph said before it fell silent must not count as what it says now.
  const layout = layOut({ ...snapshot, ceph: { known: false, why: 'Ceph does not answer' } }, type)
  // Both know nothing good: Kubernetes has lost a node with OSDs, and Ceph does not say what of them is left.
  const lost = layout.osds.filter(
    ({ lostWith, domain }) => lostWith !== undefined && !state.openDomains.includes(domain ?? ''),
  )
  const isLong = cephSilentMs >= silenceGraceMs || lost.length > 0
  const why = snapshot.ceph.known ? 'the last answer is too old' : snapshot.ceph.why
  const since = rfc3339(nowMs - cephSilentMs)
  const lostWhy =
    lost.length === 0 ? '' : ` and ${fewNames([...new Set(lost.map(({ lostWith }) => lostWith as string))])}`
  return {
    reason: isLong ? 'CephSilent' : 'CephAnswerAwaited',
    explanation: isLong
      ? `Ceph has not answered since ${since} (${why})${lostWhy}: nothing more may go down.`
      : `Ceph has not answered since ${since} (${why}): everything stays as it is for now.`,
    failureDomainType: type,
    budgets: isLong ? closed() : kept(),
    state,
    noout: { set: [], unset: [] },
    domains: answerDomains(layout, { chosen: [], released: [] }, freeRule),
    problems: layout.problems,
    alarm: false,
    isClean: unknown('Ceph does not answer'),
    turn: turnOf(layout, isLong ? [] : [...releasedStill()]),
    recheckAfterSeconds: isLong ? 10 : Math.min(5, Math.max(1, Math.ceil((silenceGraceMs - cephSilentMs) / 1000))),
  }

  function closed(): WantedBudget[] {
    if (layout.osds.length === 0) return []
    const isDrainUnderWay = state.openDomains.length > 0 && standing.includes(type)
    return isDrainUnderWay ? blockingBudgets(layout, new Set()) : [defaultBudget(0, [])]
  }

  function standingBudgets(): WantedBudget[] {
    return ours.filter(({ selector }) => selector.covers !== 'other').map(asWanted)
  }

  function releasedStill(): ReadonlySet<string> {
    const isCovered = coverOf(standingBudgets())
    return new Set(
      state.openDomains.filter((name) => layout.osds.some((osd) => osd.domain === name && !isCovered(osd))),
    )
  }

  function kept(): WantedBudget[] {
    if (layout.osds.length === 0) return []
    const budgets = standingBudgets()
    const isCovered = coverOf(budgets)
    const released = releasedStill()
    const unneeded = new Set(state.unneededOsds)
    const isProtected = layout.osds.every(
      (osd) =>
        isCovered(osd) ||
        (osd.domain !== undefined && released.has(osd.domain)) ||
        (osd.isDown && unneeded.has(osd.id)),
    )
    if (isProtected) return budgets
    if (released.size === 0 || !standing.includes(type)) return [defaultBudget(0, [])]
    const repaired = blockingBudgets(layout, released)
    const isStillHeld = coverOf(repaired)
    // Single OSDs of a released domain may be held for a reason that only Ceph can take back.
    const loosened = layout.osds.filter((osd) => isCovered(osd) && !isStillHeld(osd))
    return alsoHolding(
      repaired,
      loosened.map(({ id }) => id),
    )
  }
}
