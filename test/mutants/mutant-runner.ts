import { performance } from 'node:perf_hooks'
import { type RunnerTestCase, TestRunner } from 'vitest'
import { MutantSwitch } from './mutant-switch.ts'
import { openOutcomes } from './outcomes.ts'
import { readPlan } from './plan.ts'
import { folderOf, roomOf } from './rooms.ts'

/** One test is tried with mutants for at most so long: a scenario passes thousands of them. */
const mostPerTest = 30_000
/** Properties notice what no table has thought of, and take longer. */
const mostPerProperty = 60_000

const words = globalThis as unknown as {
  __cofferdamMutant?: unknown
  __cofferdamWeakMap?: unknown
  __cofferdamSwitch?: MutantSwitch
}
words.__cofferdamSwitch ??= new MutantSwitch()
const mutants = words.__cofferdamSwitch
words.__cofferdamMutant = mutants.isActive
words.__cofferdamWeakMap = mutants.forgetfulWeakMap()

const { mutants: planned, wide } = readPlan()
const rooms = new Map(planned.map(({ id, file }) => [id, roomOf(file)]))

/** Runs each test once as it is, and then once for each mutant that it passes and that no test has killed yet. */
export default class MutantRunner extends TestRunner {
  readonly #outcomes = openOutcomes()

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test)
    const began = performance.now()
    const { passed, steps } = await mutants.observe(run)
    this.#outcomes.passed(passed)
    const most = test.file.name.includes('.property.') ? mostPerProperty : mostPerTest
    const room = folderOf(test.file.name)
    const left = passed.filter((id) => this.#outcomes.isAlive(id) && (wide || rooms.get(id) === room))
    if (left.length === 0 || !(await isRepeatable(run))) return
    for (const id of left) {
      if (performance.now() - began > most) return this.#outcomes.skipped(`${test.file.name} > ${test.name}`)
      if (await survives(id, steps, run)) continue
      // A test that remembers what a mutant did would blame the next one.
      if (!(await isRepeatable(run))) return this.#outcomes.skipped(`${test.file.name} > ${test.name}`)
      this.#outcomes.killed(id, `${test.file.name} > ${test.name}`)
    }
  }
}

async function survives(id: number, steps: number, run: () => unknown): Promise<boolean> {
  try {
    await mutants.activate(id, steps, run)
    return true
  } catch {
    return false
  }
}

async function isRepeatable(run: () => unknown): Promise<boolean> {
  try {
    await mutants.observe(run)
    return true
  } catch {
    return false
  }
}
