import { defineConfig } from 'vitest/config'

/** Suites whose figures stand in a table beside a goal or a peer: a lab beside them would be in the figures. */
const measured = ['test/lab/reaction.lab.ts', 'test/lab/rook-drains.lab.ts']

const suite = {
  setupFiles: [
    'test/seed-properties.ts',
    'test/lab/processes/tell-failures.ts',
    'test/lab/processes/end-with-the-run.ts',
  ],
  pool: 'forks' as const,
  testTimeout: 180_000,
  hookTimeout: 180_000,
  teardownTimeout: 30_000,
}

/** Suites with real parts. A lab waits more than it works, so two run side by side; those that measure come after, one at a time. */
export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    projects: [
      {
        test: {
          ...suite,
          name: 'side by side',
          include: ['test/lab/**/*.lab.ts'],
          exclude: measured,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...suite,
          name: 'alone',
          include: measured,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
