// `npm run audit`: licences and checksums of all packages, without a network; then known vulnerabilities, where the registry answers.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
])
/** For tools that are not published with the product. */
const allowedForTools = new Set([...allowed, 'MPL-2.0'])

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const problems = []
let checked = 0
let foreign = 0
for (const [path, { link, license, integrity, dev, devOptional }] of Object.entries(packages)) {
  if (!path.includes('node_modules/') || link) continue
  if (license === undefined && !existsSync(path)) {
    // For another platform: nothing of it is here.
    foreign += 1
    continue
  }
  checked += 1
  const words = dev || devOptional ? allowedForTools : allowed
  const choices = (license ?? '').replaceAll(/[()]/g, '').split(' OR ')
  if (!choices.some((choice) => words.has(choice))) problems.push(`${path}: licence ${license ?? 'unknown'}`)
  if (integrity === undefined) problems.push(`${path}: no checksum`)
}
for (const problem of problems) console.error(problem)
console.log(
  `${checked} packages checked, ${problems.length} problems; ${foreign} for other platforms have neither licence nor checksum on record`,
)

const { status, stdout } = spawnSync('npm', ['audit', '--json', '--audit-level', 'low'], { encoding: 'utf8' })
const answer = parse(stdout)
if (answer?.metadata?.vulnerabilities === undefined) {
  console.log(
    'vulnerabilities: not checked, since the registry does not answer that question here; nothing is known of them',
  )
} else {
  const { total } = answer.metadata.vulnerabilities
  console.log(`vulnerabilities: ${total} known`)
  for (const name of Object.keys(answer.vulnerabilities ?? {}))
    console.error(`${name} is vulnerable: npm audit says how`)
}
process.exit(problems.length > 0 || (answer?.metadata !== undefined && status !== 0) ? 1 : 0)

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
