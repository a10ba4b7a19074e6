// `npm run test:package [-- RELEASE ...]`: packs what npm would publish, installs it in an empty folder, and uses its demo there, with each of
// these releases of Node.js. `.ci/run` does the same with the one that runs it.
import { spawnSync } from 'node:child_process'

const releases = process.argv.slice(2)
const chosen = releases.length > 0 ? releases : ['own', '22.23.3', '24.21.0', '26.10.0']
const built = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)
const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'vitest.documents.config.ts', 'test/package'], {
  stdio: 'inherit',
  env: { ...process.env, COFFERDAM_NODES: chosen.join(',') },
})
process.exit(status ?? 1)
