import { defineConfig } from 'vitest/config'

/** The page in a real browser. One file at a time: two browsers would share the cores and spoil each other's measurements. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 150_000,
    hookTimeout: 120_000,
    experimental: { fsModuleCache: true },
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
  },
})
