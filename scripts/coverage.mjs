// `npm run coverage`: which lines and branches the tests reach, one row for each room, and which goal is missed.
import { spawnSync } from 'node:child_process'
import { bundle } from './bundle.mjs'

await bundle({
  entryPoints: ['test/coverage/coverage.ts'],
  outdir: 'dist/coverage',
  sourcemap: 'linked',
})
const { status } = spawnSync(process.execPath, ['dist/coverage/coverage.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
