// `npm run simulate`: plays whole clusters from seeds, and says where a promise was broken.
import { runInImageNode } from './run-in-image-node.mjs'

await runInImageNode({
  entryPoint: 'simulation/simulate.ts',
  outdir: 'dist/simulation',
  program: 'simulate.js',
  args: process.argv.slice(2),
})
