import type { OpeningRule } from '../../../ledger/rules/storage-arbiter.ts'
import type { DomainView, Layout } from './layout.ts'

export interface ChosenDomains {
  /** The domains that are, or go, down together; recorded, so that a restart goes on with them. */
  readonly chosen: readonly string[]
  /** The chosen domains whose OSDs may be evicted now. */
  readonly released: readonly string[]
}

/**
 * Chooses the failure domains that may be down.
 *
 * Guarantees: nothing is released that does not leave every placement group what its pool needs, with all that is down and
 * all that is released besides; and nothing beside a domain that somebody else holds. A domain that lost an OSD to a drain
 * comes before one that lost it to a failure; within either kind the recorded one comes first, then the order of names.
 * Fails closed: without an answer only what is released already stays so, and only while nothing else is missing.
 */
export function chooseDomains(input: {
  readonly layout: Layout
  readonly recorded: readonly string[]
  /** Domains that no budget holds now. */
  readonly uncovered: ReadonlySet<string>
  readonly maxDomains: number
  readonly openable: readonly (readonly string[])[]
  /** What the ledger says. */
  readonly rule: OpeningRule
}): ChosenDomains {
  const { layout, maxDomains } = input
  const recorded = input.recorded.filter((name) => layout.domains.some((domain) => domain.name === name))
  const candidates = layout.isAtRest ? drainsUnderWay(layout, recorded) : hurtDomains(layout, recorded)
  const together = firstChoice()
  if (together.length === 0) {
    const waiting = candidates.filter(({ name }) => recorded.includes(name)).slice(0, maxDomains)
    return { chosen: waiting.map(({ name }) => name).sort(), released: [] }
  }
  for (const domain of [...candidates.filter(isDrain), ...layout.domains.filter(({ leaving }) => leaving.length > 0)]) {
    if (together.length >= maxDomains) break
    if (!together.includes(domain) && mayBeReleased([...together, domain])) together.push(domain)
  }
  const names = together.map(({ name }) => name).sort()
  return { chosen: names, released: names }

  function firstChoice(): DomainView[] {
    const goingOn = candidates
      .filter((domain) => recorded.includes(domain.name) && isDrain(domain))
      .slice(0, maxDomains)
    if (goingOn.length > 1 && mayBeReleased(goingOn)) return goingOn
    const first = candidates.find((domain) => mayBeReleased([domain]))
    return first === undefined ? [] : [first]
  }

  function mayBeReleased(domains: readonly DomainView[]): boolean {
    const names = domains.map(({ name }) => name)
    if (!input.rule.mayOpen(names)) return false
    if (domains.some(({ verdict }) => verdict.may === 'no' || verdict.may === 'disputed')) return false
    if (domains.every(({ verdict }) => verdict.may === 'yes') && mayGoTogether(domains)) return true
    const isReleased = names.every((name) => recorded.includes(name) && input.uncovered.has(name))
    const isUndecided = domains.some(({ verdict }) => verdict.may === 'unknown')
    return (
      isReleased && isUndecided && layout.missing.every(({ domain }) => domain !== undefined && names.includes(domain))
    )
  }

  function mayGoTogether(domains: readonly DomainView[]): boolean {
    if (domains.length === 1) return true
    return input.openable.some((set) => domains.every(({ bucket }) => bucket === undefined || set.includes(bucket)))
  }
}

/**
 * With all data clean, only a drain that has begun and goes on holds a domain open: it may have met an OSD without data
 * first. When another node waits as well, nobody is preferred: nothing is missing, so either may take the next step. But
 * whoever has lost a mon, or a daemon of a service that cannot move, comes first: it can only return with its node, and its like on the
 * others wait for it.
 */
function drainsUnderWay({ domains }: Layout, recorded: readonly string[]): DomainView[] {
  const leaving = domains.filter((domain) => domain.leaving.length > 0)
  const withLoss = leaving.filter(({ lostDaemons }) => lostDaemons.length > 0)
  if (withLoss.length > 0) return recordedFirst(withLoss, recorded)
  return leaving.length === 1 ? leaving.filter(({ isDrained }) => isDrained) : []
}

function recordedFirst(list: readonly DomainView[], recorded: readonly string[]): DomainView[] {
  return [...list.filter(({ name }) => recorded.includes(name)), ...list.filter(({ name }) => !recorded.includes(name))]
}

function hurtDomains({ domains }: Layout, recorded: readonly string[]): DomainView[] {
  const isHurt = ({ neededDown }: DomainView) => neededDown.length > 0
  const drained = recordedFirst(
    domains.filter((domain) => domain.isDrained && isHurt(domain)),
    recorded,
  )
  const entered = recordedFirst(
    domains.filter((domain) => isDrain(domain) && !isHurt(domain)),
    recorded,
  )
  const failed = recordedFirst(
    domains.filter((domain) => isHurt(domain) && !domain.isDrained),
    recorded,
  )
  const healing = domains.filter((domain) => recorded.includes(domain.name))
  return [...new Set([...drained, ...entered, ...failed, ...healing])]
}

/** A drain of this domain has begun and is not over: there is data that waits, or an OSD that still has to go. */
function isDrain({ isDrained, neededDown, leaving, lostDaemons }: DomainView): boolean {
  return (isDrained && (neededDown.length > 0 || leaving.length > 0)) || lostDaemons.length > 0
}

/** Where an OSD may be the first to go. While data waits for an OSD, a second failure domain must not begin. */
export function domainsThatMayBegin({ domains, missing }: Layout): string[] {
  const safe = domains.filter(({ verdict }) => verdict.may === 'yes').map(({ name }) => name)
  if (missing.length === 0) return safe
  return safe.filter((name) => missing.some(({ domain }) => domain === name)).slice(0, 1)
}
