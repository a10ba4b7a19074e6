import type { Hindrance, OpeningRule } from '../../../ledger/rules/storage-arbiter.ts'
import type { CephView } from '../../../safety/ceph-view.ts'
import { isStandingStill } from '../../../safety/pg-evidence.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { explainNo, explainOwnDrain } from './answers.ts'
import type { ChosenDomains } from './choose-domains.ts'
import { type DomainView, fewNames, type Layout, osdNames } from './layout.ts'

interface Hindered extends Hindrance {
  readonly names: string
  readonly count: number
}

/** One sentence or two about the whole cluster: what is open, what waits, and for what. */
export function explainBudgets({
  layout,
  choice,
  ceph,
  rule,
}: {
  readonly layout: Layout
  readonly choice: ChosenDomains
  readonly ceph: CephView
  readonly rule: OpeningRule
}): { readonly reason: Reason; readonly explanation: string } {
  const { type, domains } = layout
  if (layout.osds.length === 0) return { reason: 'NoOsds', explanation: 'There are no OSDs to protect.' }
  const disputed = domains.filter(({ verdict }) => verdict.may === 'disputed')
  if (choice.chosen.length > 0) return explainChosen()
  // Before the data: whoever holds all of it changes that with every OSD, and each change of reason is an event.
  const everywhere = hinderedOf(domains, 'begin')
  if (everywhere?.reason === 'StorageKeyHeld' && everywhere.count === domains.length) return explainHindered(everywhere)
  const unknown = domains.find(({ verdict }) => verdict.may === 'unknown')
  if (unknown?.verdict.may === 'unknown') {
    return {
      reason: 'SafetyUnknown',
      explanation: `No OSD may go until it is known what is safe: ${unknown.verdict.why}.`,
    }
  }
  if (disputed.length > 0) {
    return {
      reason: 'CephDisagrees',
      explanation: `Cofferdam's calculation and Ceph's ok-to-stop check differ for ${type} ${names(disputed)}: held until they agree.`,
    }
  }
  const held = domains.filter(({ verdict }) => verdict.may === 'no')
  const first = held.find(({ verdict }) => verdict.may === 'no' && verdict.doubts === undefined) ?? held[0]
  if (first?.verdict.may === 'no') {
    const others = held.length === domains.length ? 'No OSD may go' : `${type} ${names(held)} must stay`
    const reason = first.verdict.doubts === undefined ? 'TooFewCopies' : 'PgInDoubt'
    return { reason, explanation: `${others}: ${explainNo(first.verdict)}.` }
  }
  const hurt = domains.filter(({ neededDown }) => neededDown.length > 0)
  const hindered = hurt.length > 0 ? hinderedOf(hurt, 'open') : hinderedOf(domains, 'begin')
  if (hindered !== undefined) return explainHindered(hindered)
  if (layout.missing.length > 0) {
    const missing = osdNames(layout.missing.map(({ id }) => id))
    return {
      reason: 'DataWaits',
      explanation: `Data is not clean: it waits for ${missing}: no other ${type} may start a drain. ${explainData()}`,
    }
  }
  const unneeded = layout.osds.filter(({ id, isDown }) => isDown && layout.unneeded.has(id)).map(({ id }) => id)
  const without = unneeded.length === 0 ? '' : ` Nothing waits for ${osdNames(unneeded)}.`
  return { reason: 'AnyOsdMayGo', explanation: `Any one OSD may go, and its ${type} may follow.${without}` }

  function explainChosen(): { reason: Reason; explanation: string } {
    const chosen = domains.filter(({ name }) => choice.chosen.includes(name))
    const down = chosen.flatMap((domain) => domain.down)
    const lostDaemons = chosen.flatMap((domain) => domain.lostDaemons)
    const lost = [...(down.length > 0 ? [osdNames(down)] : []), ...lostDaemons]
    const lostWith = [...new Set(chosen.flatMap((domain) => domain.lostWith))]
    const nodes = lostWith.length === 0 ? '' : `, ${fewNames(lostWith)}`
    const why = lost.length > 0 ? `${lost.join(', ')} down${nodes}${onNodes(chosen)}` : 'its OSDs are back'
    const waits = lostWith.length > 0 && ceph.pgs.health === 'clean' ? 'Ceph has them up so far.' : explainData()
    if (choice.released.length === 0) {
      const hindered = chosen.every(({ verdict }) => verdict.may === 'yes') ? hinderedOf(chosen, 'open') : undefined
      if (hindered !== undefined) {
        const { reason, explanation } = hindered
        return { reason, explanation: `${type} ${names(chosen)} (${why}) is held: ${explanation}. ${waits}` }
      }
      const blocker = chosen.find(({ verdict }) => verdict.may === 'no')
      const trouble = blocker?.verdict.may === 'no' ? `: ${explainNo(blocker.verdict)}` : ''
      const ownDrain = blocker === undefined ? '' : explainOwnDrain(blocker, layout)
      const reason = chosen.some(({ verdict }) => verdict.may === 'disputed') ? 'CephDisagrees' : 'DomainHeld'
      return {
        reason,
        explanation: `${type} ${names(chosen)} (${why}) is held like all others${trouble}.${ownDrain} ${waits}`,
      }
    }
    const reason = lost.length > 0 ? 'DomainReleased' : 'RecoveryAwaited'
    return {
      reason,
      explanation: `${type} ${choice.released.join(', ')} may go (${why}); every other ${type} is held. ${waits}`,
    }
  }

  function explainHindered({ reason, explanation, names: waiting }: Hindered): { reason: Reason; explanation: string } {
    const lost = layout.missing.length > 0 ? ` (${osdNames(layout.missing.map(({ id }) => id))} down)` : ''
    return { reason, explanation: `${type} ${waiting} may not be drained${lost}: ${explanation}.` }
  }

  function hinderedOf(among: readonly DomainView[], step: 'begin' | 'open'): Hindered | undefined {
    const waiting = among.filter(({ name }) => rule.hindranceTo(name, step) !== undefined)
    const [first] = waiting
    const hindrance = first && rule.hindranceTo(first.name, step)
    return hindrance && { ...hindrance, names: names(waiting), count: waiting.length }
  }

  function explainData(): string {
    switch (ceph.pgs.health) {
      case 'clean':
        return 'All data is clean.'
      case 'unknown':
        return `Whether the data is clean is not known: ${ceph.pgs.why}.`
      case 'unclean': {
        // Without counts: they change all the time, and every change of words is a write and an event.
        const states = Object.keys(ceph.pgs.dirtyStates).sort()
        const awaited = states.filter((state) => !isStandingStill(state))
        const standing = states.filter(isStandingStill)
        const except = standing.length === 0 ? '' : ` Not waited for: ${fewNames(standing)}.`
        return awaited.length === 0
          ? `All other data is clean.${except}`
          : `Waiting for clean data: ${fewNames(awaited)}.${except}`
      }
    }
  }
}

function names(domains: readonly DomainView[]): string {
  return fewNames(domains.map(({ name }) => name))
}

function onNodes(domains: readonly DomainView[]): string {
  const drained = domains.flatMap(({ drainedNodes }) => drainedNodes)
  return drained.length === 0 ? '' : `, ${fewNames(drained)} being drained`
}
