// `npm run crash-points [-- SCENARIO…]`: lets the operator die at every write of every scenario, and prints one table.
import { spawnSync } from 'node:child_process'
import { bundle } from './bundle.mjs'

await bundle({
  entryPoints: ['scenarios/crash-points/crash-points.ts'],
  outdir: 'dist/crash-points',
  sourcemap: 'linked',
})
const given = process.argv.slice(2)
const { status } = spawnSync(process.execPath, ['dist/crash-points/crash-points.js', ...given], { stdio: 'inherit' })
process.exit(status ?? 1)
