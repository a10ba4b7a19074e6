// `npm run site [-- FOLDER]`: README and docs/ as a static site in public/, or in a folder of your choice. Fails when a link leads nowhere.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stop } from 'esbuild'
import { bundle, bundleForBrowsers } from './bundle.mjs'

mkdirSync('dist', { recursive: true })
const folder = mkdtempSync('dist/site-')
process.exitCode = 1
try {
  await bundleForBrowsers({
    entryPoints: ['site/browser/search.js'],
    outfile: join(folder, 'search.js'),
    format: 'iife',
  })
  await bundle({ entryPoints: ['site/main.ts'], outfile: join(folder, 'main.js') })
  await stop()
  const builder = [join(folder, 'main.js'), join(folder, 'search.js'), ...process.argv.slice(2)]
  process.exitCode = spawnSync(process.execPath, builder, { stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(folder, { recursive: true })
}
