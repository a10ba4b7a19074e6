import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import { readPlan } from './test/mutants/plan.ts'
import { weaveMutants } from './test/mutants/weave-mutants.ts'
import quick from './vitest.config.ts'

const { tests, mutants, wide } = readPlan()

/** Tables before properties before whole clusters, as the plan has them: what a cheap test kills no dear one tries again. */
class PlannedSequencer extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]): ReturnType<BaseSequencer['sort']> {
    const place = new Map(tests.map((test, at) => [test, at]))
    const placeOf = ({ moduleId }: (typeof files)[number]) => place.get(relative(process.cwd(), moduleId)) ?? 0
    return [...files].sort((one, other) => placeOf(one) - placeOf(other))
  }
}

const weaving = {
  name: 'weave mutants',
  enforce: 'pre' as const,
  load(id: string): string | undefined {
    const file = relative(process.cwd(), id)
    if (!file.startsWith('packages/cofferdam/src/') || !file.endsWith('.ts') || file.endsWith('.test.ts'))
      return undefined
    const source = readFileSync(id, 'utf8')
    const own = mutants.filter((mutant) => mutant.file === file)
    const woven = own.length > 0 ? weaveMutants(source, own) : source
    return source.includes('new WeakMap') ? `const WeakMap = globalThis.__cofferdamWeakMap;${woven}` : woven
  },
}

/** Started by `npm run mutants`, which writes the plan. */
export default defineConfig({
  plugins: [weaving],
  test: {
    ...quick.test,
    include: [...tests],
    setupFiles: ['test/seed-properties.ts', 'test/mutants/end-at-first-failure.ts'],
    runner: './test/mutants/mutant-runner.ts',
    sequence: { sequencer: PlannedSequencer },
    // One test at a time: which mutant is active is one value for each worker.
    maxConcurrency: 1,
    env: { COFFERDAM_RUNS: 'few' },
    // With all that pass it, scenarios are tried too.
    testTimeout: wide ? 120_000 : 10_000,
    update: 'none',
    dangerouslyIgnoreUnhandledErrors: true,
    experimental: { fsModuleCache: false },
    reporters: ['./scripts/closing-line-reporter.mjs'],
  },
})
