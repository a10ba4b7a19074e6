// `npm run check:rounds`: plans every small cluster there is, tries everything beside it, and prints one table.
import { spawnSync } from 'node:child_process'
import { build } from 'esbuild'

await build({
  entryPoints: ['test/rounds/check-rounds.ts'],
  outdir: 'dist/rounds',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  sourcemap: 'linked',
  logLevel: 'warning',
})
const { status } = spawnSync(process.execPath, ['dist/rounds/check-rounds.js'], { stdio: 'inherit' })
process.exit(status ?? 1)
