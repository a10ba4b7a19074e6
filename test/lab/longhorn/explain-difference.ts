import type { LonghornOracle } from './ask-longhorn.ts'
import { compareAnswers, type Difference, isForbidden, type Judged } from './compare-answers.ts'
import { type KnownDifference, knownDifferences } from './known-differences.ts'
import type { LonghornAnswers, LonghornBudgetAnswer, LonghornState } from './longhorn-state.ts'
import { decideOurselves } from './our-answers.ts'

export async function judge(oracle: LonghornOracle, state: LonghornState): Promise<Judged> {
  return { state, longhorn: await oracle.ask(state), ours: decideOurselves(state) }
}

/** Why Longhorn and we differ about one thing. Empty: unexplained. */
export type Explain = (difference: Difference) => Promise<readonly KnownDifference[]>

/**
 * Finds the fewest known differences, in their order, without which both agree.
 *
 * Guarantees: what must never be is never explained. Where we release a budget that Longhorn does not, agreeing is not enough: without the
 * cause Longhorn must release it too. And where Longhorn fails, it must not fail without the cause: a budget that both leave alone, one of
 * them by failing, tells nothing of why it fails.
 */
export function createExplainer(oracle: LonghornOracle, judged: Judged): Explain {
  const asked = new Map<string, Promise<Judged>>()

  return async (difference) => {
    if (isForbidden(difference, judged.longhorn)) return []
    const { state, ours } = judged
    const present = knownDifferences.filter(({ without }) => without(state, ours, difference.subject) !== state)
    for (const known of present) if (await isGone(difference, [known])) return [known]
    if (present.length < 2) return []
    if (!(await isGone(difference, knownDifferences))) return firstOf(difference, upToThree(present))
    let needed: readonly KnownDifference[] = knownDifferences
    for (const known of knownDifferences) {
      const fewer = needed.filter((one) => one !== known)
      if (await isGone(difference, fewer)) needed = fewer
    }
    return needed
  }

  /** Where all are taken away, one may make another difference that was not there. Then only those count that are there, and few of them. */
  async function firstOf(
    difference: Difference,
    choices: readonly (readonly KnownDifference[])[],
  ): Promise<readonly KnownDifference[]> {
    for (const choice of choices) if (await isGone(difference, choice)) return choice
    return []
  }

  async function isGone(difference: Difference, causes: readonly KnownDifference[]): Promise<boolean> {
    const { about, subject, longhorn, ours } = difference
    const other = await judgeWithout(subject, causes)
    const { differences } = compareAnswers(other)
    if (differences.some((one) => one.about === about && one.subject === subject)) return false
    if (about !== 'budget') return true
    if (longhorn === 'fail' && (await mayFail(other, subject))) return false
    return ours !== 'release' || answerAbout(subject, other.longhorn)?.does === 'delete'
  }

  /**
   * Longhorn takes the replicas of a node in no fixed order and ends at the first that holds it, before or after the one at which it fails.
   * So it is also asked about each volume by itself.
   */
  async function mayFail({ state, longhorn }: Judged, subject: string): Promise<boolean> {
    if (answerAbout(subject, longhorn)?.error !== undefined) return true
    const node = state.instanceManagers.find(({ metadata }) => metadata.name === subject)?.spec?.nodeID
    const here = state.replicas.filter(({ spec }) => spec?.nodeID === node)
    for (const volume of new Set(here.map(({ spec }) => spec?.volumeName))) {
      const replicas = state.replicas.filter(({ spec }) => spec?.volumeName === volume)
      const answers = await oracle.ask({ ...state, replicas })
      if (answerAbout(subject, answers)?.error !== undefined) return true
    }
    return false
  }

  function judgeWithout(subject: string, causes: readonly KnownDifference[]): Promise<Judged> {
    const isPerSubject = causes.some((cause) => cause.isPerSubject === true)
    const key = [isPerSubject ? subject : '', ...causes.map(({ name }) => name)].join('|')
    const known = asked.get(key) ?? judge(oracle, takeAway(subject, causes))
    asked.set(key, known)
    return known
  }

  function takeAway(subject: string, causes: readonly KnownDifference[]): LonghornState {
    let { state, ours } = judged
    for (const { without, isPerSubject } of causes) {
      if (isPerSubject === true && state !== judged.state) ours = decideOurselves(state)
      state = without(state, ours, subject)
    }
    return state
  }
}

function answerAbout(subject: string, { budgets }: LonghornAnswers): LonghornBudgetAnswer | undefined {
  return budgets.find(({ instanceManager }) => instanceManager === subject)
}

/** Every two of them, then every three, in their order. */
function upToThree<T>(items: readonly T[]): readonly (readonly T[])[] {
  const pairs = items.flatMap((first, at) => items.slice(at + 1).map((second) => [first, second]))
  const threes = pairs.flatMap((pair) => items.slice(items.indexOf(pair[1] as T) + 1).map((third) => [...pair, third]))
  return [...pairs, ...threes]
}
