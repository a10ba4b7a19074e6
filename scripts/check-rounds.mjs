// `npm run check:rounds`: plans every small cluster there is, tries everything beside it, and prints one table.
import { spawnSync } from 'node:child_process'
import { bundle } from './bundle.mjs'

await bundle({
  entryPoints: ['test/rounds/check-rounds.ts'],
  outdir: 'dist/rounds',
  sourcemap: 'linked',
})
const { status } = spawnSync(process.execPath, ['dist/rounds/check-rounds.js'], { stdio: 'inherit' })
process.exit(status ?? 1)
