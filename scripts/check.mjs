// `npm run check`: types, lint, format, unused code, architecture. Runs all of them, then says which failed.
import { spawnSync } from 'node:child_process'

const checks = {
  types: ['tsc', '--noEmit'],
  'types of the page': ['tsc', '--noEmit', '-p', 'packages/cofferdam/src/dashboard/page'],
  'lint and format': ['biome', 'check', '--error-on-warnings', '.'],
  'type-aware lint': [
    'oxlint',
    '--type-aware',
    '--deny-warnings',
    'packages',
    'test',
    'bench',
    'scenarios',
    'simulation',
    'image',
    'site',
  ],
  'unused code': ['knip', '--no-progress'],
  architecture: ['vitest', 'run', 'test/architecture.test.ts'],
}

const failed = []
for (const [name, [tool, ...args]] of Object.entries(checks)) {
  console.log(`\n== ${name}: ${tool} ${args.join(' ')}`)
  const { status } = spawnSync('npx', [tool, ...args], { stdio: 'inherit' })
  if (status !== 0) failed.push(name)
}
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(', ')}`)
  process.exit(1)
}
console.log('\nAll checks passed.')
