// `npm test`: what a developer runs before each commit. `npm run test:deep`: crash points, races, storms and the model.
// `npm run test:every`: the same with each crash point and each round. None needs another program. Arguments are passed on to vitest.
// All of them compile the sources once (test/native-modules.ts); failures then name compiled lines, and `npx vitest run FILE` those of the source.
import { spawnSync } from 'node:child_process'

const [first, ...more] = process.argv.slice(2)
const isDeep = first === 'deep' || first === 'every'
const args = isDeep ? ['--config', 'vitest.deep.config.ts', ...more] : process.argv.slice(2)
const env = { COFFERDAM_NATIVE: '1', ...process.env, ...(first === 'every' && { COFFERDAM_RUNS: 'every' }) }
const { status } = spawnSync('npx', ['vitest', 'run', ...args], { stdio: 'inherit', env })
process.exit(status ?? 1)
