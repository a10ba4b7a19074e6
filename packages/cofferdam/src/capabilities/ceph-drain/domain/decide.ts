import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type OpeningRule, openingRule } from '../../../ledger/rules/storage-arbiter.ts'
import type { CephView } from '../../../safety/ceph-view.ts'
import { domainTypeInUse } from '../../../safety/domain-type.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { answerDomains } from './answers.ts'
import { chooseDomains, domainsThatMayBegin } from './choose-domains.ts'
import { decideWithoutCeph } from './decide-without-ceph.ts'
import type { CephDrainDecision } from './decision.ts'
import { explainBudgets } from './explain-budgets.ts'
import { explainObserving } from './explain-observing.ts'
import { type Layout, layOut, type PlacedOsd } from './layout.ts'
import { believedAgainInMs } from './lost-nodes.ts'
import { decideNoout } from './noout.ts'
import { asWanted, type WantedBudget } from './osd-budgets.ts'
import { presentHolds } from './present-holds.ts'
import type { CephDrainSnapshot, OsdBudget } from './snapshot.ts'
import type { DrainState } from './state-map.ts'
import { crossedDrains, decideTurn } from './storage-turn.ts'
import { blockingBudgets, closedDefault, coverOf, defaultBudget, partialBudgets } from './wanted-budgets.ts'
import { wantedClaim } from './wanted-claim.ts'

/**
 * Decides which OSDs of one Ceph cluster may be evicted.
 *
 * While nothing is missing, any one OSD may go where its whole failure domain may follow. As soon as one is down on a
 * drained node, or down with data that waits for it, its domain is released and every other one is held. When all data is
 * clean again, whether the OSDs came back or others took over, the others are free as well. While somebody else holds a
 * failure domain in the ledger, no other one may begin.
 *
 * Guarantees: total; the same for any order of its input; each OSD is selected by at most one of the budgets, and by none
 * only if it may go or nothing waits for it.
 * Fails closed: what is not known to be safe is held, and so is what somebody else may hold in the ledger.
 */
export function decideCephDrain(snapshot: CephDrainSnapshot): CephDrainDecision {
  const { cluster, ceph } = snapshot
  const { failureDomainOverride } = cluster.settings
  if (cluster.mode !== 'manage') return observeOnly(snapshot)
  if (!ceph.known || snapshot.cephSilentMs > 0) return decideWithoutCeph(snapshot)
  const layout = layOut(snapshot, domainTypeInUse(failureDomainOverride, ceph.value.failureDomainType))
  return decideWithCeph(snapshot, layout, ceph.value)
}

function decideWithCeph(snapshot: CephDrainSnapshot, layout: Layout, ceph: CephView): CephDrainDecision {
  const uncovered = uncoveredDomains(snapshot, layout)
  const isOpenAlready = (name: string) => snapshot.state.openDomains.includes(name) && uncovered.has(name)
  const { arbiter, ledgerScope } = presentHolds(snapshot.arbiter, layout)
  const rule = openingRule(arbiter, isOpenAlready)
  const choice = chooseDomains({
    layout,
    recorded: snapshot.state.openDomains,
    uncovered,
    maxDomains: snapshot.cluster.settings.maxDomains,
    openable: ceph.openable ?? [],
    rule,
  })
  // A domain that is held now is released only after no other can lose an OSD: between two writes an eviction may pass.
  const waitsForBlocks =
    choice.released.some((name) => !uncovered.has(name)) &&
    [...domainsThatMayLose(snapshot, layout)].some((name) => !choice.released.includes(name))
  const released = waitsForBlocks ? choice.released.filter((name) => uncovered.has(name)) : choice.released
  const inForce = { ...choice, released }
  const noout = decideNoout(snapshot, ceph, layout, choice)
  const budgets = wantedBudgets(layout, inForce, rule, snapshot.budgets)
  const claim = wantedClaim({ cluster: snapshot.cluster, arbiter, ledgerScope }, layout, choice)
  const state: DrainState = {
    ...noout.state,
    openDomains: choice.chosen,
    lastUncleanAt: choice.chosen.length === 0 ? undefined : (snapshot.state.lastUncleanAt ?? uncleanNow()),
    unneededOsds: [...layout.unneeded].sort((a, b) => a - b),
  }
  return {
    ...explainBudgets({ layout, choice: inForce, ceph, rule }),
    failureDomainType: layout.type,
    budgets,
    state,
    noout: { set: noout.set, unset: noout.unset },
    domains: answerDomains(layout, inForce, rule),
    problems: [
      ...layout.problems,
      ...noout.problems,
      ...crossedDrains(snapshot, layout),
      ...foreignBudgets(snapshot, budgets),
    ],
    alarm: layout.domains.some(({ verdict }) => verdict.may === 'disputed'),
    isClean: ceph.pgs.health === 'unknown' ? unknown(ceph.pgs.why) : known(layout.isAtRest),
    ...(claim === undefined ? {} : { claim }),
    turn: decideTurn(layout, inForce, arbiter),
    recheckAfterSeconds: recheckAfterSeconds(),
  }

  function uncleanNow(): string | undefined {
    return layout.isClean ? undefined : rfc3339(snapshot.nowMs)
  }

  function recheckAfterSeconds(): number {
    const isUnsettled = layout.domains.some(({ verdict }) => verdict.may === 'unknown') || ceph.pgs.health === 'unknown'
    if (waitsForBlocks) return 1
    if (isUnsettled || noout.set.length > 0 || noout.unset.length > 0) return 2
    // Kubernetes reports that an OSD is back; whether its data is clean has to be polled.
    const isRecovering = !layout.osds.some(({ isDown }) => isDown)
    const usual = choice.chosen.length > 0 || !layout.isAtRest ? (isRecovering ? 5 : 15) : 60
    const lostForMs = layout.osds.some(({ lostWith }) => lostWith !== undefined)
      ? believedAgainInMs(snapshot.nodes, snapshot.nowMs)
      : undefined
    const ends = [noout.expiresInMs, lostForMs].flatMap((ms) => (ms === undefined ? [] : [Math.ceil(ms / 1000)]))
    return ends.length === 0 ? usual : Math.max(1, Math.min(usual, ...ends))
  }
}

/** Failure domains with an OSD that matters and that no budget of ours selects now. */
function uncoveredDomains(snapshot: CephDrainSnapshot, layout: Layout): ReadonlySet<string> {
  return domainsOutside(layout, coverOf(snapshot.budgets.filter(({ isOurs }) => isOurs)))
}

/** Failure domains with an OSD that could be evicted now: a budget that has lost its one OSD allows no other. */
function domainsThatMayLose(snapshot: CephDrainSnapshot, layout: Layout): ReadonlySet<string> {
  // A pod that still counts as ready uses up nothing.
  const down = layout.osds.filter(({ isDown, lostWith }) => isDown && lostWith === undefined)
  const isUsedUp = (budget: OsdBudget) =>
    budget.maxUnavailable === 0 || down.filter(coverOf([budget])).length >= budget.maxUnavailable
  const firm = snapshot.budgets.filter((budget) => budget.isOurs && isUsedUp(budget))
  return domainsOutside(layout, coverOf(firm))
}

function domainsOutside(layout: Layout, isCovered: (osd: PlacedOsd) => boolean): ReadonlySet<string> {
  const open = layout.osds.filter((osd) => !layout.unneeded.has(osd.id) && !isCovered(osd))
  return new Set(open.flatMap(({ domain }) => (domain === undefined ? [] : [domain])))
}

function wantedBudgets(
  layout: Layout,
  { chosen, released }: { readonly chosen: readonly string[]; readonly released: readonly string[] },
  rule: OpeningRule,
  standing: readonly OsdBudget[],
): WantedBudget[] {
  if (layout.osds.length === 0) return []
  if (chosen.length > 0) return closedDefault(layout, released, standing) ?? blockingBudgets(layout, new Set(released))
  const isUnsettled = layout.domains.some(({ verdict }) => verdict.may === 'unknown')
  const free = new Set(domainsThatMayBegin(layout).filter((name) => rule.mayBegin(name)))
  if (isUnsettled || free.size === 0) return [defaultBudget(0, [])]
  const held = layout.domains.map(({ name }) => name).filter((name) => !free.has(name))
  if (held.length > 0) return partialBudgets(layout, new Set(held))
  return [
    defaultBudget(
      1,
      layout.osds.filter(({ id, isDown }) => isDown && layout.unneeded.has(id)).map(({ id }) => id),
    ),
  ]
}

/** Somebody else's budget under a name that we need is never changed; the plan then deletes nothing either. */
function foreignBudgets(snapshot: CephDrainSnapshot, wanted: readonly WantedBudget[]): ObjectProblem[] {
  const names = new Set(wanted.map(({ name }) => name))
  return snapshot.budgets
    .filter(({ name, isOurs }) => !isOurs && names.has(name))
    .map(({ name }) => ({
      object: `poddisruptionbudget/${name}`,
      problem:
        'is not managed by Cofferdam and has the name of a budget that Cofferdam needs; it is left alone, and nothing is released until it is gone',
    }))
    .sort((a, b) => (a.object < b.object ? -1 : 1))
}

/** Nothing is wanted but what is there; what is left of ours is released by the plan. */
function observeOnly(snapshot: CephDrainSnapshot): CephDrainDecision {
  const { cluster, state } = snapshot
  const { turn: _, ...managed } = decideCephDrain({ ...snapshot, cluster: { ...cluster, mode: 'manage' } })
  const { reason, explanation } = explainObserving(cluster)
  return {
    ...managed,
    reason,
    explanation: `${explanation} ${managed.explanation}`,
    budgets: snapshot.budgets.filter(({ isOurs }) => isOurs).map(asWanted),
    state,
    noout: { set: [], unset: [] },
    claim: { wants: 'release' },
  }
}
