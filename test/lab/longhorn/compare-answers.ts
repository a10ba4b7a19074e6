import type { LonghornAnswers, LonghornState } from './longhorn-state.ts'
import { decideOurselves, type OurAnswers } from './our-answers.ts'

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
  const differences = [
    ...budgets,
    ...compareReliance({ state, longhorn, ours }),
    ...compareFlags(state, longhorn, ours),
  ].filter((one) => one.longhorn !== one.ours && !isSameEffect(one))
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
 * Where Longhorn lets its budget go, at once or as soon as the node is cordoned: what we want held then must have a budget of ours already.
 */
function compareReliance({ state, longhorn, ours }: Judged): Difference[] {
  if (ours.snapshot.settings.mode !== 'hold') return []
  const going = new Set(longhorn.budgets.filter(({ mayGo }) => mayGo === 'yes').map((answer) => answer.instanceManager))
  const leftToLonghorn = ours.decision.budgets.filter(
    ({ instanceManager, wanted, hold }) =>
      wanted === 'present' &&
      hold !== 'needed' &&
      going.has(instanceManager) &&
      ours.snapshot.longhornBudgets.has(instanceManager),
  )
  return [...new Set(leftToLonghorn.map(({ node }) => node))].flatMap((node) => {
    if (!state.replicas.some(({ spec }) => spec?.nodeID === node)) return []
    const wanted = new Set(wantedOn(node, { state, ours }))
    return leftToLonghorn
      .filter((answer) => answer.node === node && wanted.has(answer.instanceManager))
      .map(
        ({ instanceManager: subject }): Difference => ({
          about: 'reliance',
          subject,
          longhorn: 'lets go',
          ours: 'holds',
        }),
      )
  })
}

/** Instance managers that we want held once the node is cordoned. */
function wantedOn(node: string, { state, ours }: Pick<Judged, 'state' | 'ours'>): readonly string[] {
  const isOpen = state.kubeNodes.some(({ metadata, spec }) => metadata.name === node && spec?.unschedulable !== true)
  const kubeNodes = state.kubeNodes.map((each) =>
    each.metadata.name === node ? { ...each, spec: { ...each.spec, unschedulable: true } } : each,
  )
  const { decision } = isOpen ? decideOurselves({ ...state, kubeNodes }) : ours
  return decision.budgets.filter(({ wanted }) => wanted === 'present').map(({ instanceManager }) => instanceManager)
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
