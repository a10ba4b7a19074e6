import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { nativeFolder, nativeModules } from './test/native-modules.ts'

const isNative = process.env['COFFERDAM_NATIVE'] === '1'

export default defineConfig({
  plugins: isNative ? [nativeModules()] : [],
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'test/*.test.ts',
      'test/coverage/*.test.ts',
      'test/documents/**/*.test.ts',
      'test/fuzz/*.test.ts',
      'test/lab/**/*.test.ts',
      'test/model/**/*.test.ts',
      'test/mutants/**/*.test.ts',
      'test/rounds/**/*.test.ts',
      'scenarios/**/*.test.ts',
      'simulation/**/*.test.ts',
      'image/**/*.test.ts',
      'site/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/*.deep.test.ts'],
    setupFiles: ['test/seed-properties.ts'],
    pool: 'threads',
    isolate: false,
    // On two cores the default would leave one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    server: { deps: { external: [nativeFolder] } },
    // What has not changed is not compiled again: about a quarter of the work of a second run. Native modules are another folder in each run, of which
    // what was compiled before does not know.
    experimental: { fsModuleCache: !isNative },
    reporters: ['default', './scripts/module-cache-reporter.mjs', './scripts/closing-line-reporter.mjs'],
  },
})
