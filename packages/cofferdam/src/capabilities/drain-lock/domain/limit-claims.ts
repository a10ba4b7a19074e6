import type { Claim } from '../../../ledger/rules/claim.ts'
import { nodeKey } from '../../../ledger/rules/keys.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { listText } from '../../../shared/list-text.ts'
import { notKnownYet, waitingSince } from './claims.ts'
import type { DisruptionBlocker } from './decision.ts'
import type { DisruptionView } from './disruption-view.ts'
import type { AwayNode, LimitFacts } from './maintenance-limits.ts'

/** What limits ask of a request: places to be held in the ledger, and what takes the last of them without asking. */
export interface LimitAnswer {
  readonly claims: readonly Claim[]
  readonly blockers: readonly DisruptionBlocker[]
}

/**
 * Places of limits. A node that is away without a request takes a place too: cordoned by hand, drained by another tool, or dead. So does
 * one whose request holds it without a place, because the limit came later or break-glass passed over it: its cordon may not be seen yet,
 * and the ledger is not a copy.
 *
 * Break-glass passes over every limit but the majority of etcd.
 * Fails closed: where nodes or the policy cannot be read, nothing begins.
 */
export function limitAnswer(view: DisruptionView): LimitAnswer {
  const { limits } = view.snapshot
  if (!limits.known) {
    const common = { object: 'disruptionpolicy/cluster', holder: 'not known', since: waitingSince(view) }
    return { claims: [], blockers: [{ ...common, reason: 'PolicyUnknown', wayOut: notKnownYet(limits.why) }] }
  }
  const claims: Claim[] = []
  const blockers: DisruptionBlocker[] = []
  for (const facts of limits.value) {
    const most = view.breaksGlass ? facts.etcdSpares : facts.most
    if (most === undefined) continue
    const uncounted = withoutPlace(facts, view)
    const away = view.breaksGlass ? uncounted.filter(({ isReady }) => !isReady) : uncounted
    const left = most - away.length
    if (left > 0) claims.push({ key: facts.key, uid: '', scope: '', most: left })
    else blockers.push(limitBlocker(view, { ...facts, most, away }))
  }
  return { claims, blockers }
}

interface Uncounted extends AwayNode {
  /** Of a node that a request holds. */
  readonly holder?: string
}

/** Nodes that are away, and for which no request holds a place of this limit. */
export function awayUnasked({ key, away }: LimitFacts, { entries }: Ledger): readonly AwayNode[] {
  if (away.length === 0) return away
  const placed = holdersOf(key, entries)
  const counted = new Set(entries.filter(({ requestId }) => placed.has(requestId)).map((entry) => entry.key))
  return away.filter(({ name }) => !counted.has(nodeKey(name)))
}

/** The same, and nodes that a request holds without a place of this limit. */
function withoutPlace(facts: LimitFacts, { ledger, request }: DisruptionView): readonly Uncounted[] {
  const found: readonly Uncounted[] = awayUnasked(facts, ledger)
  if (ledger.entries.length === 0) return found
  const placed = holdersOf(facts.key, ledger.entries)
  const held = new Map<string, string>()
  for (const { key, requestId, holder } of ledger.entries) {
    if (!key.startsWith(nodeKey('')) || placed.has(requestId) || requestId === request.id) continue
    const name = key.slice(nodeKey('').length)
    if (name !== request.nodeName && facts.open.has(name)) held.set(name, holder)
  }
  return [...found, ...[...held].map(([name, holder]): Uncounted => ({ name, isReady: true, holder }))]
}

function holdersOf(key: string, entries: Ledger['entries']): ReadonlySet<string> {
  return new Set(entries.filter((entry) => entry.key === key).map(({ requestId }) => requestId))
}

function limitBlocker(
  view: DisruptionView,
  { key, most, away }: Pick<LimitFacts, 'key' | 'most'> & { readonly away: readonly Uncounted[] },
): DisruptionBlocker {
  const named = away.map(({ name, isReady, holder }) => `${name} (${holder ?? (isReady ? 'closed' : 'not Ready')})`)
  const wayOut =
    most === 0
      ? 'Maintenance is stopped: the limit is 0 in disruptionpolicy/cluster.'
      : `It allows ${most} ${most === 1 ? 'node' : 'nodes'} in maintenance at once, and ${away.length} ${away.length === 1 ? 'is' : 'are'} away without a place. Bring back or uncordon what is not needed away, or raise the limit in disruptionpolicy/cluster.`
  return {
    object: key,
    holder: away.length === 0 ? 'disruptionpolicy/cluster' : listText(named),
    since: waitingSince(view),
    reason: 'MaintenanceLimit',
    wayOut,
  }
}
