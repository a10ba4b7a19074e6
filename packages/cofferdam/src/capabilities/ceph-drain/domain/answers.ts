import type { OpeningRule } from '../../../ledger/rules/storage-arbiter.ts'
import type { PgDoubt, PgTrouble, StopVerdict } from '../../../safety/verdict.ts'
import { type ChosenDomains, domainsThatMayBegin } from './choose-domains.ts'
import type { DomainAnswer } from './decision.ts'
import { type DomainView, fewNames, type Layout, lostText, osdNames } from './layout.ts'

/** For every failure domain: would a drain of its nodes be let through now? */
export function answerDomains(layout: Layout, choice: ChosenDomains, rule: OpeningRule): DomainAnswer[] {
  const { type } = layout
  const { chosen, released } = choice
  const lost = lostText(layout.domains.filter(({ name }) => chosen.includes(name)).flatMap(({ lostWith }) => lostWith))
  const mayBegin = new Set(domainsThatMayBegin(layout))
  return layout.domains.map((domain) => ({
    domain: domain.name,
    osds: domain.osds,
    nodes: domain.nodes,
    ...answer(domain),
  }))

  function answer(domain: DomainView): Pick<DomainAnswer, 'mayDrain' | 'reason' | 'explanation'> {
    const { name, verdict, down } = domain
    if (released.includes(name)) {
      return {
        mayDrain: true,
        reason: 'DomainReleased',
        explanation: `${type} ${name} may be drained: it is the failure domain that is allowed to be down.`,
      }
    }
    // Before the verdict: it waits either way, and a verdict is made anew with every report.
    if (chosen.length > 0 && !chosen.includes(name)) {
      return {
        mayDrain: false,
        reason: 'OtherDomainDown',
        explanation: `${type} ${name} waits until ${chosen.join(', ')} is back${lost} and all data is clean.`,
      }
    }
    if (verdict.may === 'unknown') {
      return {
        mayDrain: false,
        reason: 'SafetyUnknown',
        explanation: `Whether ${type} ${name} may go is not known: ${verdict.why}.`,
      }
    }
    if (verdict.may === 'disputed') {
      return {
        mayDrain: false,
        reason: 'CephDisagrees',
        explanation: `Cofferdam's calculation for ${type} ${name} and Ceph's ok-to-stop check differ; it is held until they agree.`,
      }
    }
    if (verdict.may === 'no') {
      return {
        mayDrain: false,
        reason: verdict.doubts === undefined ? 'TooFewCopies' : 'PgInDoubt',
        explanation: `${type} ${name} must stay: ${explainNo(verdict)}.${explainOwnDrain(domain, layout)}`,
      }
    }
    const hindrance = rule.hindranceTo(name, chosen.includes(name) || down.length > 0 ? 'open' : 'begin')
    if (chosen.includes(name) && hindrance === undefined) {
      return {
        mayDrain: false,
        reason: 'OtherDomainDown',
        explanation: `${type} ${name} is released as soon as every other ${type} is held.`,
      }
    }
    if (chosen.length === 0 && !mayBegin.has(name)) {
      const missing = osdNames(layout.missing.map(({ id }) => id))
      return { mayDrain: false, reason: 'DataWaits', explanation: `${type} ${name} waits: data waits for ${missing}.` }
    }
    // Last, so that it stands only where nothing but the ledger is in the way.
    if (hindrance !== undefined) {
      const { reason, explanation } = hindrance
      return { mayDrain: false, reason, explanation: `${type} ${name} waits: ${explanation}.` }
    }
    return { mayDrain: true, reason: 'SafeToDrain', explanation: `${type} ${name} may be drained now.` }
  }
}

/**
 * Where a drain has taken one OSD of a node and the data needs it before the next: it has no place while its node is closed, so the drain
 * would wait for itself. By CRUSH it may be of another domain, as when its disk has just been moved.
 */
export function explainOwnDrain(
  { verdict, leaving, drainedNodes }: DomainView,
  { osds, unneeded }: Pick<Layout, 'osds' | 'unneeded'>,
): string {
  if (verdict.may !== 'no' || verdict.doubts !== undefined || leaving.length === 0) return ''
  const taken = osds.filter(
    ({ id, isDown, nodeName }) => isDown && !unneeded.has(id) && drainedNodes.includes(nodeName ?? ''),
  )
  if (taken.length === 0) return ''
  const nodes = fewNames(drainedNodes)
  return ` The drain of ${nodes} has taken ${osdNames(taken.map(({ id }) => id))}: where the data does not recover without, this drain waits for itself; uncordon ${nodes} to let it start (cofferdam uncordon ends a request), and drain again when all data is clean.`
}

/** Why a verdict is no, and for what lasts until somebody acts, what to do. */
export function explainNo(verdict: Extract<StopVerdict, { may: 'no' }>): string {
  const { doubts = [], doubtCount = 0 } = verdict
  const [first] = doubts
  if (first === undefined) return explainTroubles(verdict)
  const more = doubtCount > 1 ? ` and ${doubtCount - 1} more are in doubt` : ''
  return `placement group ${first.pg} of pool ${first.pool} is ${first.state}${more}; to do: ${repairOf(first)}`
}

function repairOf({ pg, state }: PgDoubt): string {
  if (/inconsistent|failed_repair/.test(state))
    return `ceph pg repair ${pg} (what is damaged: rados list-inconsistent-obj ${pg})`
  if (/unfound/.test(state)) return `bring back the OSDs that have the objects of ceph pg ${pg} list_unfound`
  if (/toofull/.test(state)) return 'free space or add OSDs (ceph osd df)'
  return `see ceph pg ${pg} query`
}

export function explainTroubles({
  troubles,
  troubleCount,
}: {
  readonly troubles: readonly PgTrouble[]
  readonly troubleCount: number
}): string {
  const [worst] = troubles
  if (worst === undefined) return `${troubleCount} placement groups would have too few copies`
  const more = troubleCount > 1 ? ` and ${troubleCount - 1} more` : ''
  const name = `placement group ${worst.pg} of pool ${worst.pool}`
  return worst.lostSite === undefined
    ? `${name} would be left with ${worst.left} of the ${worst.floor} it needs${more}`
    : `${name} would have no copy left in ${worst.lostSite}, and must keep one on each site${more}`
}
