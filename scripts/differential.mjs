// `npm run differential [-- --sequences N] [--seed N]`: asks the embedded and a real API server the same in N random sequences, by another
// seed each time, and tells what they answer differently. CI runs a cut of it, by one seed.
import { spawnSync } from 'node:child_process'

/** How many sequences each round tells: the shares in test/lab/differential/explore.ts. */
const perRound = 23

function wish(name, otherwise) {
  const at = process.argv.indexOf(name)
  const value = at < 0 ? otherwise : process.argv[at + 1]
  if (/^[1-9]\d*$/.test(value ?? '')) return Number(value)
  console.error('usage: npm run differential [-- --sequences N] [--seed N]')
  process.exit(2)
}

const rounds = Math.ceil(wish('--sequences', '10000') / perRound)
// Drawn here: a suite that fails is run once more, and must then ask the same.
const seed = wish('--seed', String(1 + Math.floor(Math.random() * 2 ** 31)))
console.log(`differential: ${rounds * perRound} sequences from seed ${seed}`)
const env = { ...process.env, COFFERDAM_SEED: String(seed), COFFERDAM_LAB_DIFFERENTIAL: String(rounds) }
const { status } = spawnSync(process.execPath, ['scripts/test-lab.mjs', 'lab/differential'], { stdio: 'inherit', env })
process.exit(status ?? 1)
