// `npm run bench`: bundles bench/*.ts and runs those named as arguments, or all. Each prints one table.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { bundle } from './bundle.mjs'
import { findChromium } from './find-chromium.mjs'

const known = existsSync('bench') ? readdirSync('bench').filter((file) => file.endsWith('.ts')) : []
const names = known.map((file) => file.slice(0, -'.ts'.length)).sort()
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark called ${unknown.join(' or ')}. There are: ${names.join(', ')}.`)
  process.exit(2)
}

const chosen = wanted.length > 0 ? wanted : names
// It measures the program as it is installed. First, because a build begins with an empty folder.
if (chosen.includes('scale')) spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
await bundle({
  entryPoints: chosen.map((name) => `bench/${name}.ts`),
  outdir: 'dist/bench',
  sourcemap: 'linked',
})
// Only the page needs a browser, and says so where there is none.
const chromium = chosen.includes('page') ? findChromium() : undefined
const env = chromium === undefined ? process.env : { ...process.env, CHROMIUM: chromium }
const failed = chosen.filter((name) => {
  console.log(`\nnpm run bench -- ${name}\n`)
  return spawnSync(process.execPath, ['--expose-gc', `dist/bench/${name}.js`], { stdio: 'inherit', env }).status !== 0
})
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(', ')}`)
  process.exit(1)
}
