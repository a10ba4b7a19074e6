// `npm test`: what a developer runs before each commit. `npm run test:deep`: crash points, races, storms and the model.
// Neither needs another program. Arguments are passed on to vitest.
import { spawnSync } from 'node:child_process'

const [first, ...more] = process.argv.slice(2)
const args = first === 'deep' ? ['--config', 'vitest.deep.config.ts', ...more] : process.argv.slice(2)
const { status } = spawnSync('npx', ['vitest', 'run', ...args], { stdio: 'inherit' })
process.exit(status ?? 1)
