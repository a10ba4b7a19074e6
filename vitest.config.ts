import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'test/*.test.ts',
      'test/lab/**/*.test.ts',
      'test/model/**/*.test.ts',
      'scenarios/**/*.test.ts',
    ],
    setupFiles: ['test/seed-properties.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: 30_000,
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
  },
})
