// Bundles the command line into dist/cofferdam.js and its parts, and the dashboard's page into dist/page/; clusters to show go beside them.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { build, stop } from 'esbuild'
import { bundle, installed } from './bundle.mjs'

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
await build({
  entryPoints: ['packages/cofferdam/src/dashboard/page/page.tsx'],
  outfile: 'dist/page/page.js',
  bundle: true,
  minify: true,
  target: 'es2022',
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  sourcemap: 'linked',
  logLevel: 'warning',
})
mkdirSync('dist/page', { recursive: true })
for (const file of ['favicon.svg', 'index.html', 'page.css']) {
  cpSync(`packages/cofferdam/src/dashboard/page/${file}`, `dist/page/${file}`)
}
cpSync('packages/cofferdam/src/ceph/rados-helper.py', 'dist/rados-helper.py')
cpSync('examples/clusters', 'dist/clusters', { recursive: true })
await stop()
