// Runs before `npm start`, `npm test` and their kin: makes a fresh clone usable, and is silent when there is nothing to do.
// Uses nothing but Node.js, since there may be no node_modules yet.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Cofferdam needs Node.js 20.19 or newer; this is ${process.versions.node}. Install a newer one and try again.`,
  )
  process.exit(1)
}

const lock = readFileSync('package-lock.json', 'utf8')
const stamp = 'node_modules/.cofferdam-lock'
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.log('Installing the packages named in package-lock.json (npm ci, about a minute the first time)...')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: 'inherit' })
  if (status !== 0) {
    console.error(
      '`npm ci` failed, see above. Cofferdam needs the npm registry once; after that it starts without network.',
    )
    process.exit(1)
  }
  writeFileSync(stamp, lock)
}
