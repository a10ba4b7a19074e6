// Bundles the command line into dist/cofferdam.js and the dashboard's page into dist/page/; clusters to show go beside them.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { build, stop } from 'esbuild'
import { bundle } from './bundle.mjs'

rmSync('dist', { recursive: true, force: true })
await bundle({
  entryPoints: ['packages/cofferdam/src/cli/main.ts'],
  outfile: 'dist/cofferdam.js',
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
