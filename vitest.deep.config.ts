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
    testTimeout: 300_000,
  },
})
