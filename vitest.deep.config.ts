import { defineConfig } from 'vitest/config'
import quick from './vitest.config.ts'

/** What takes long and seldom fails alone: crash points, races, storms, exhaustive searches and the model. */
export default defineConfig({
  plugins: quick.plugins ?? [],
  test: {
    ...quick.test,
    include: [
      'packages/*/src/**/*.deep.test.ts',
      'scenarios/**/*.deep.test.ts',
      'simulation/**/*.deep.test.ts',
      'test/**/*.deep.test.ts',
      // Properties once more, each with its full number of runs.
      'packages/*/src/**/*.property.test.ts',
    ],
    env: { COFFERDAM_RUNS: process.env['COFFERDAM_RUNS'] ?? 'full' },
    exclude: ['**/node_modules/**'],
    // They run at the lowest priority beside real clusters (.ci/run), and know no time but their own.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
})
