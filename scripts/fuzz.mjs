// `npm run fuzz [-- --runs N] [NAME]`: damages whole texts N times for each parser, by another seed each time. What harms one is printed;
// put it into test/fuzz/corpus, where every test run tries it again.
import { spawnSync } from 'node:child_process'

const words = process.argv.slice(2)
const at = words.indexOf('--runs')
const runs = at < 0 ? '20000' : (words.splice(at, 2)[1] ?? '')
if (!/^[1-9][0-9]*$/.test(runs)) {
  console.error('usage: npm run fuzz [-- --runs N] [NAME of a parser]')
  process.exit(2)
}
const [name] = words
const argv = [
  'vitest',
  'run',
  'test/fuzz/fuzz.test.ts',
  '--testTimeout',
  '0',
  ...(name === undefined ? [] : ['-t', name]),
]
const env = { ...process.env, COFFERDAM_FUZZ_RUNS: runs, COFFERDAM_SEED: process.env.COFFERDAM_SEED ?? 'random' }
const { status } = spawnSync('npx', argv, { stdio: 'inherit', env })
process.exit(status ?? 1)
