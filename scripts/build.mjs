// Bundles the command line into dist/cofferdam.js and its parts, the library into dist/domain.js, and the dashboard's page into dist/page/; clusters to
// show go beside them.
import { cpSync, rmSync } from 'node:fs'
import { stop } from 'esbuild'
import { bundle, bundleLibrary, bundlePage, installed } from './bundle.mjs'

rmSync('dist', { recursive: true, force: true })
// In parts, so that no command but the demo loads the simulator; packages that only the simulator needs are in that part.
await bundle({
  entryPoints: { cofferdam: 'packages/cofferdam/src/cli/main.ts' },
  outdir: 'dist',
  chunkNames: 'part-[hash]',
  splitting: true,
  minifyWhitespace: true,
  minifySyntax: true,
  external: installed,
  legalComments: 'eof',
  sourcemap: 'linked',
})
await bundle({
  entryPoints: ['packages/cofferdam/src/ceph/pg-parse-worker.ts'],
  outfile: 'dist/pg-parse-worker.js',
})
await bundleLibrary('dist/domain.js')
await bundlePage('dist/page')
cpSync('packages/cofferdam/src/ceph/rados-helper.py', 'dist/rados-helper.py')
cpSync('examples/clusters', 'dist/clusters', { recursive: true })
await stop()
