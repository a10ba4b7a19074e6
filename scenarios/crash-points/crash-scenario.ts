import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import type { StagedOperator } from '../testing/lock-fixture.ts'
import type { CrashPoint, OperateOptions } from '../testing/staged-operators.ts'
import { observeEndState } from './end-state.ts'

/** What every stage has on which an operator may die. */
export interface CrashStage {
  readonly server: ApiServer
  readonly oracle: { readonly violations: readonly string[] }
  operate(options?: OperateOptions): StagedOperator
  seconds(count: number): Promise<void>
  close(): Promise<void>
}

/** How a scenario went in which an operator died, or lived. */
export interface CrashRun {
  /** Writes of the first process, in order. */
  readonly written: readonly string[]
  readonly hasDied: boolean
  readonly violations: readonly string[]
  /** All that an operator may change, as it is in the end, and what the scenario adds to that. */
  readonly end: readonly string[]
  /** Why it did not come to its end. */
  readonly broke?: string
}

export interface CrashScenario {
  readonly title: string
  run(crash?: CrashPoint): Promise<CrashRun>
}

export interface CrashStory<S extends CrashStage> {
  readonly title: string
  /** The cluster before the operator has come. */
  open(): Promise<S>
  /** What happens while an operator is there or comes back, until all that was begun is over. */
  act(stage: S): Promise<void>
  /** What counts beside the objects in the API: `noout: none`. */
  facts?(stage: S): readonly string[] | Promise<readonly string[]>
  readonly operate?: OperateOptions
}

/** So long nothing more happens in the end: what is left over shows by then, and what a new process had to take for forgotten is over. */
const quietSeconds = 180

/** The whole operator, guard and all, that dies where it is told to; another one follows it. */
export function crashScenario<S extends CrashStage>(story: CrashStory<S>): CrashScenario {
  return {
    title: story.title,
    async run(crash) {
      const stage = await story.open()
      const options = { isReplaced: true, isGuard: true, ...story.operate }
      const operator = stage.operate(crash === undefined ? options : { ...options, crash })
      const seen = () => ({
        written: operator.written(),
        hasDied: operator.isDead(),
        violations: stage.oracle.violations,
      })
      try {
        await story.act(stage)
        await stage.seconds(quietSeconds)
        const facts = (await story.facts?.(stage)) ?? []
        return { ...seen(), end: [...(await observeEndState(stage.server)), ...facts] }
      } catch (error) {
        return { ...seen(), end: [], broke: (error as Error).message }
      } finally {
        await stage.close()
      }
    },
  }
}
