import { defineConfig } from 'vitest/config'

/** Suites with real parts. One process and one suite at a time: two labs would share the cores and make each other slow. */
export default defineConfig({
  test: {
    include: ['test/lab/**/*.lab.ts'],
    setupFiles: [
      'test/seed-properties.ts',
      'test/lab/processes/tell-failures.ts',
      'test/lab/processes/end-with-the-run.ts',
    ],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
  },
})
