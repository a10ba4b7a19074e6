// `npm run crash-points [-- SCENARIO…]`: lets the operator die at every write of every scenario, and prints one table.
import { runInImageNode } from './run-in-image-node.mjs'

await runInImageNode({
  entryPoint: 'scenarios/crash-points/crash-points.ts',
  outdir: 'dist/crash-points',
  program: 'crash-points.js',
  args: process.argv.slice(2),
})
