import { shortText } from '../../../shared/record-limits.ts'
import type { CephDrainDecision, DomainAnswer } from './decision.ts'
import { asWanted, defaultBudgetName, type WantedBudget } from './osd-budgets.ts'
import type { CephDrainSnapshot, OsdBudget } from './snapshot.ts'
import { stateMapName } from './state-map.ts'
import { coverOf, defaultBudget } from './wanted-budgets.ts'

/** A record that the API server did not take. */
export interface RecordRefusal {
  readonly why: string
  /** False for what is temporary: somebody else wrote at the same time, the server was busy. */
  readonly isLasting: boolean
}

/**
 * What is left of a decision while its record cannot be written.
 *
 * The record is the memory of which failure domain is open and which noout is ours: a process that dies must find it there. So
 * whatever holds OSDs is written all the same, and whatever lets them go waits. A flag that is on record as ours may be taken
 * back, for that leaves nothing to remember; none is set.
 *
 * Guarantees: after the writes every OSD is held at least as firmly as before them, and as firmly as was decided. Once the
 * refusal lasts, no failure domain begins that could not be released to its end.
 */
export function decideWithoutRecord(
  snapshot: Pick<CephDrainSnapshot, 'cluster' | 'budgets' | 'state' | 'osds'>,
  decision: CephDrainDecision,
  { why, isLasting }: RecordRefusal,
): CephDrainDecision {
  const { budgets: standing, state, cluster } = snapshot
  const ours = standing.filter(({ isOurs }) => isOurs)
  const isCovered = coverOf(ours)
  const openOsds = new Set(snapshot.osds.filter((osd) => osd.isReady && !isCovered(osd)).map(({ id }) => id))
  const explanation =
    `configmap/${stateMapName} in ${cluster.namespace} cannot be written (${shortText(why, 512)}): OSDs stay held, ` +
    `and no failure domain is released until it can. ${wayOut(cluster.namespace)}`
  const { claim, ...rest } = decision
  return {
    ...rest,
    reason: 'RecordRefused',
    explanation,
    budgets: isLasting ? closed(snapshot, ours, decision.budgets) : keepHolding(ours, decision.budgets),
    state,
    noout: { set: [], unset: decision.noout.unset.filter((bucket) => state.ownNoout.includes(bucket)) },
    domains: decision.domains.map(answer),
    // While no budget is opened, the hold in the ledger is not released either.
    ...(claim?.wants === 'hold' ? { claim } : {}),
  }

  function answer(given: DomainAnswer): DomainAnswer {
    const isOpen = state.openDomains.includes(given.domain) && given.osds.some((id) => openOsds.has(id))
    if (!given.mayDrain || isOpen) return given
    return { ...given, mayDrain: false, reason: 'RecordRefused', explanation }
  }
}

function wayOut(namespace: string): string {
  return (
    `To do: check that the operator may update it, that no webhook or quota refuses it, and that it is not immutable ` +
    `(kubectl -n ${namespace} get configmap ${stateMapName} -o yaml).`
  )
}

/**
 * Nothing begins that would wait for the record half way. Where the default budget stands or is wanted it holds whatever no block
 * holds: a pod under two budgets is refused with 500, which ends a drain instead of letting it wait.
 */
function closed(
  { osds }: Pick<CephDrainSnapshot, 'osds'>,
  ours: readonly OsdBudget[],
  wanted: readonly WantedBudget[],
): WantedBudget[] {
  const isDefault = ({ name, selector }: WantedBudget) => name === defaultBudgetName && selector.covers === 'all'
  if (![...ours, ...wanted].some(isDefault)) return keepHolding(ours, wanted)
  const blocks = ours.filter(({ name, maxUnavailable }) => name !== defaultBudgetName && maxUnavailable === 0)
  const isBlocked = coverOf(blocks)
  const held = osds.filter(isBlocked).map(({ id }) => id)
  return [defaultBudget(0, held), ...blocks.map(asWanted)]
}

/** The wanted budgets, each holding besides what it holds now; those that are not wanted stay. */
export function keepHolding(ours: readonly OsdBudget[], wanted: readonly WantedBudget[]): WantedBudget[] {
  const names = new Set(wanted.map(({ name }) => name))
  const standing = new Map(ours.map((budget) => [budget.name, budget]))
  return [
    ...wanted.map((budget) => merged(budget, standing.get(budget.name))),
    ...ours.filter(({ name }) => !names.has(name)).map(asWanted),
  ]
}

function merged(budget: WantedBudget, before: OsdBudget | undefined): WantedBudget {
  if (before === undefined) return budget
  const maxUnavailable = Math.min(budget.maxUnavailable, before.maxUnavailable)
  const { selector } = budget
  const { selector: held } = before
  if (selector.covers === 'all' && held.covers === 'all') {
    const exceptOsds = selector.exceptOsds.filter((id) => held.exceptOsds.includes(id))
    return { ...budget, maxUnavailable, selector: { covers: 'all', exceptOsds } }
  }
  if (selector.covers === 'osds' && held.covers === 'osds') {
    const osds = [...new Set([...selector.osds, ...held.osds])].sort((a, b) => a - b)
    return { ...budget, maxUnavailable, selector: { covers: 'osds', osds } }
  }
  // A selector that is not what we write under this name protects nobody, and is put right.
  return held.covers === selector.covers ? { ...budget, maxUnavailable } : budget
}
