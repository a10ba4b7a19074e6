import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { Step } from '../shared/steps.ts'

/** What came of one step. */
export type StepOutcome =
  /** Performed: the next one follows. */
  | 'done'
  /** Performed, and more is known now: the rest is decided again on a new snapshot. */
  | 'learned'
  /** Not performed: none of the rest is either. What is in the way is in the next snapshot. */
  | 'stopped'

export type Performers<S extends Step> = {
  readonly [K in S['do']]: (step: Extract<S, { readonly do: K }>) => Promise<StepOutcome>
}

/** A decision with what it wants done. */
interface Decided {
  readonly steps: readonly Step[]
}

type StepOf<D extends Decided> = D['steps'][number]

export interface Pass<Snapshot, D extends Decided> {
  /** Reads everything that is to be decided on, what was learned in this pass included. */
  observe(): Promise<Snapshot>
  /** Pure. */
  decide(snapshot: Snapshot): D
  readonly perform: Performers<StepOf<D>>
  /** Called after each step that was performed; what it throws ends the pass there, as a crash would. */
  readonly onPerformed?: (step: StepOf<D>, outcome: StepOutcome) => void
  /** How often one pass may decide again because something was learned. Default 12. */
  readonly mostRounds?: number
  readonly signal: AbortSignal
}

export interface PassEnd<Snapshot, D> {
  readonly snapshot: Snapshot
  readonly decision: D
  /** Every step of the last decision was performed. */
  readonly isWhole: boolean
  /** It ended because it would only have repeated itself: the same steps were learned from twice, or too often. */
  readonly isCutShort: boolean
}

/**
 * Performs what is decided, one step after the other, and decides again whenever a step has taught something.
 *
 * Guarantees: steps are performed in their order, never two at once, and none after one that was stopped, threw, or taught something.
 * A decision that learns the same thing twice in a row ends the pass, so no pass goes on for ever.
 * Fails closed: an abort ends the pass before the next step.
 */
export async function performPass<Snapshot, D extends Decided>(pass: Pass<Snapshot, D>): Promise<PassEnd<Snapshot, D>> {
  const { mostRounds = 12, signal } = pass
  let before: D['steps'] | undefined
  for (let round = 1; ; round += 1) {
    signal.throwIfAborted()
    const snapshot = await pass.observe()
    const decision = pass.decide(snapshot)
    const outcome = await performSteps(pass, decision.steps)
    const isRepeated = before !== undefined && isSameJson(before, decision.steps)
    if (outcome !== 'learned') return { snapshot, decision, isWhole: outcome === 'done', isCutShort: false }
    if (isRepeated || round >= mostRounds) return { snapshot, decision, isWhole: false, isCutShort: true }
    before = decision.steps
  }
}

async function performSteps<D extends Decided>(
  { perform, onPerformed, signal }: Pick<Pass<unknown, D>, 'perform' | 'onPerformed' | 'signal'>,
  steps: D['steps'],
): Promise<StepOutcome> {
  for (const step of steps as readonly StepOf<D>[]) {
    signal.throwIfAborted()
    const performer = perform[step.do as StepOf<D>['do']] as (step: Step) => Promise<StepOutcome>
    const outcome = await performer(step)
    onPerformed?.(step, outcome)
    if (outcome !== 'done') return outcome
  }
  return 'done'
}
