// `npm run simulate`: plays whole clusters from seeds, and says where a promise was broken.
import { spawnSync } from 'node:child_process'
import { bundle } from './bundle.mjs'

await bundle({
  entryPoints: ['simulation/simulate.ts'],
  outdir: 'dist/simulation',
  sourcemap: 'linked',
})
const { status } = spawnSync(process.execPath, ['dist/simulation/simulate.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
