import { decideLonghornDrain } from '@cofferdam/product/capabilities/longhorn-drain/domain/decide.ts'
import { withCordon } from '@cofferdam/product/capabilities/longhorn-drain/domain/seen-closing.ts'
import type {
  LonghornNodeView,
  LonghornSnapshot,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import type { LonghornAnswers, LonghornState } from './longhorn-state.ts'
import type { OurAnswers } from './our-answers.ts'

/** What happens to the budget of an instance manager. `fail`: Longhorn gives up with an error, and what is there stays. */
type BudgetEffect = 'release' | 'make' | 'keep' | 'fail'

/** One thing that Longhorn and we see differently. */
export interface Difference {
  /** `reliance`: whether Longhorn's budget is enough to hold what we want held. */
  readonly about: 'budget' | 'reliance' | 'flag' | 'event'
  /** The instance manager, or the replica. */
  readonly subject: string
  readonly longhorn: string
  readonly ours: string
}

/** A state with what Longhorn and we decide about it. */
export interface Judged {
  readonly state: LonghornState
  readonly longhorn: LonghornAnswers
  readonly ours: OurAnswers
}

export interface Compared {
  /** How many answers were held against each other. */
  readonly asked: { readonly budgets: number; readonly flags: number }
  readonly differences: readonly Difference[]
}

/** Compares by effect: an error of Longhorn and a budget or flag that we leave alone come to the same. */
export function compareAnswers({ state, longhorn, ours }: Judged): Compared {
  const budgets = longhorn.budgets.map((answer): Difference => {
    const failed = answer.error !== undefined
    const effects = { create: 'make', delete: 'release', nothing: 'keep' } as const
    return {
      about: 'budget',
      subject: answer.instanceManager,
      longhorn: failed ? 'fail' : effects[answer.does],
      ours: ourEffect(ours, answer.instanceManager),
    }
  })
  const differences = [...budgets, ...compareReliance(longhorn, ours), ...compareFlags(state, longhorn, ours)].filter(
    (one) => one.longhorn !== one.ours && !isSameEffect(one),
  )
  return { asked: { budgets: budgets.length, flags: state.replicas.length }, differences }
}

/**
 * What must never be: something on the node holds it by Longhorn's judgement, and we let it go; or we leave it to Longhorn to hold the node,
 * and it does not.
 */
export function isForbidden({ about, subject, ours }: Difference, longhorn: LonghornAnswers): boolean {
  if (about === 'reliance') return true
  const answer = longhorn.budgets.find(({ instanceManager }) => instanceManager === subject)
  return about === 'budget' && ours === 'release' && answer?.mayGo === 'no'
}

export function sayDifference({ about, subject, longhorn, ours }: Difference): string {
  return `${about} of ${subject}: Longhorn ${longhorn}, Cofferdam ${ours}`
}

function isSameEffect({ about, longhorn, ours }: Difference): boolean {
  return about === 'budget' && longhorn === 'fail' && ours === 'keep'
}

function ourEffect({ decision, snapshot }: OurAnswers, instanceManager: string): BudgetEffect {
  const wanted = decision.budgets.find((answer) => answer.instanceManager === instanceManager)?.wanted
  const isThere = snapshot.budgets.has(instanceManager)
  if (wanted === 'absent' && isThere) return 'release'
  return wanted === 'present' && !isThere ? 'make' : 'keep'
}

/**
 * Where we want a node held and have no budget of our own for it, since Longhorn's is there and holds for the same reasons: it must be so, also at
 * the moment when an open node is cordoned. Longhorn's judgement is the same before and after that.
 */
function compareReliance(longhorn: LonghornAnswers, { decision, snapshot }: OurAnswers): Difference[] {
  if (snapshot.settings.mode !== 'hold') return []
  return snapshot.nodes.flatMap((node) => {
    const isHeldOnceCordoned = heldManagers(snapshot, node)
    return decision.budgets
      .filter((answer) => answer.node === node.name && answer.hold !== 'needed')
      .filter(({ instanceManager }) => isHeldOnceCordoned.has(instanceManager))
      .filter(({ instanceManager }) => snapshot.longhornBudgets.has(instanceManager))
      .map(({ instanceManager: subject }): Difference => {
        const isGoing = longhorn.budgets.some(
          ({ instanceManager, mayGo }) => instanceManager === subject && mayGo === 'yes',
        )
        return { about: 'reliance', subject, longhorn: isGoing ? 'lets go' : 'holds', ours: 'holds' }
      })
  })
}

/** Instance managers of the node that we want held when it is cordoned. */
function heldManagers(snapshot: LonghornSnapshot, node: LonghornNodeView): ReadonlySet<string> {
  const nodes = snapshot.nodes.map((each) => (each === node ? withCordon(each) : each))
  const { budgets } = decideLonghornDrain({ ...snapshot, nodes })
  const held = budgets.filter((answer) => answer.node === node.name && answer.wanted === 'present')
  return new Set(held.map(({ instanceManager }) => instanceManager))
}

/** The value of each flag afterwards; and where both change it, the reason of the event. */
function compareFlags({ replicas }: LonghornState, longhorn: LonghornAnswers, { decision }: OurAnswers): Difference[] {
  const theirs = new Map(longhorn.evictions.map((answer) => [answer.replica, answer]))
  const own = new Map(decision.evictions.map((answer) => [answer.replica, answer]))
  return replicas.flatMap(({ metadata, spec }): Difference[] => {
    const subject = metadata.name
    const was = spec?.evictionRequested ?? false
    const their = theirs.get(subject)
    const our = own.get(subject)
    const theirFlag = their === undefined || their.error !== undefined ? was : their.evict
    const ourFlag = our?.isRequested ?? was
    if (theirFlag !== ourFlag) {
      return [{ about: 'flag', subject, longhorn: flagWord(theirFlag), ours: flagWord(ourFlag) }]
    }
    if (ourFlag === was) return []
    return [{ about: 'event', subject, longhorn: their?.reason ?? '', ours: our?.event ?? '' }]
  })
}

function flagWord(isUp: boolean): string {
  return isUp ? 'up' : 'down'
}
