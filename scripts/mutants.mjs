// `npm run mutants`: changes one thing at a time in the rooms that judge, and lists what no test noticed.
import { spawnSync } from 'node:child_process'
import { bundle } from './bundle.mjs'

await bundle({
  entryPoints: ['test/mutants/mutants.ts'],
  outdir: 'dist/mutants',
  sourcemap: 'linked',
})
const { status } = spawnSync(process.execPath, ['dist/mutants/mutants.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
