// `npm run check:locks`: visits every state of the lock core within its bounds, and prints one table.
import { spawnSync } from 'node:child_process'
import { bundle } from './bundle.mjs'

await bundle({
  entryPoints: ['test/model/check-locks.ts'],
  outdir: 'dist/model',
  sourcemap: 'linked',
})
const { status } = spawnSync(process.execPath, ['--max-old-space-size=3072', 'dist/model/check-locks.js'], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
