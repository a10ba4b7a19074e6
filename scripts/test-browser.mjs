// `npm run test:browser`: the page in a real browser. `npm run screenshots` does the same and renews the pictures in docs/images.
// Other arguments are passed on to vitest.
import { spawnSync } from 'node:child_process'
import { findChromium } from './find-chromium.mjs'

const chromium = findChromium()
if (chromium === undefined) {
  console.error(
    'The tests of the page need Chromium. On Debian: apt-get install -y --no-install-recommends chromium. Elsewhere: set CHROMIUM to the path of a Chromium or Chrome.',
  )
  process.exit(2)
}

const args = process.argv.slice(2)
const renews = args.includes('--screenshots')
const built = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)
const passedOn = args.filter((arg) => arg !== '--screenshots')
const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'vitest.browser.config.ts', ...passedOn], {
  stdio: 'inherit',
  env: { ...process.env, CHROMIUM: chromium, ...(renews ? { COFFERDAM_SCREENSHOTS: 'renew' } : {}) },
})
process.exit(status ?? 1)
