import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornOracle } from './ask-longhorn.ts'
import { type Compared, compareAnswers, isForbidden, sayDifference } from './compare-answers.ts'
import { createExplainer, judge } from './explain-difference.ts'
import type { KnownDifference } from './known-differences.ts'
import { randomLonghorn } from './random-longhorn.ts'
import { tellState } from './tell-state.ts'

/** What came of asking Longhorn and us about many states. */
export interface AskedBoth {
  readonly states: number
  readonly asked: Compared['asked']
  readonly differing: number
  /** How often each known difference explained one by itself, and how often together with others. */
  readonly explained: ReadonlyMap<KnownDifference, { readonly alone: number; readonly together: number }>
  /** What must never be, and what no known difference explains; each with its state and the seed of it. */
  readonly forbidden: readonly string[]
  readonly unexplained: readonly string[]
}

export interface Asking {
  readonly oracle: LonghornOracle
  /** The first state comes from this seed, each other one from the next. */
  readonly seed: number
  readonly states: number
}

/** So many states are with the oracle at a time: neither side waits for the other. */
const inFlight = 32

export async function askBoth({ oracle, seed, states }: Asking): Promise<AskedBoth> {
  const explained = new Map<KnownDifference, { alone: number; together: number }>()
  const forbidden: string[] = []
  const unexplained: string[] = []
  const asked = { budgets: 0, flags: 0 }
  let differing = 0
  let next = 0

  async function askOne(own: number): Promise<void> {
    const judged = await judge(oracle, randomLonghorn(seededRandom(own)))
    const { asked: more, differences } = compareAnswers(judged)
    asked.budgets += more.budgets
    asked.flags += more.flags
    differing += differences.length
    const explain = createExplainer(oracle, judged)
    for (const difference of differences) {
      const says = () => `seed ${own}: ${sayDifference(difference)}\n${tellState(judged.state)}`
      if (isForbidden(difference, judged.longhorn)) {
        forbidden.push(says())
        continue
      }
      const causes = await explain(difference)
      if (causes.length === 0) unexplained.push(says())
      for (const cause of causes) {
        const counts = explained.get(cause) ?? { alone: 0, together: 0 }
        counts[causes.length === 1 ? 'alone' : 'together'] += 1
        explained.set(cause, counts)
      }
    }
  }

  const keepAsking = async () => {
    while (next < states) {
      next += 1
      await askOne(seed + next - 1)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, keepAsking))
  return { states, asked, differing, explained, forbidden, unexplained }
}
