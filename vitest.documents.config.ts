import { defineConfig } from 'vitest/config'

/** README and guide, followed command by command, the tour of the demo, the package as npm installs it, and whatever else only real time decides. Most of the time goes by waiting, so all walks run at the same time. */
export default defineConfig({
  test: {
    include: ['test/documents/**/*.walk.ts', 'test/package/*.walk.ts', 'test/real-time/*.walk.ts'],
    hookTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 2,
    maxConcurrency: 8,
    testTimeout: 600_000,
    experimental: { fsModuleCache: true },
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
  },
})
