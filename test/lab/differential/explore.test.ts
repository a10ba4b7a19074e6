import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { families } from './explore.ts'

it('the command that is asked for 10,000 sequences tells as many: it knows how many a round has', () => {
  const script = readFileSync('scripts/differential.mjs', 'utf8')
  const shares = Object.values(families).map(({ share }) => share)
  const perRound = shares.reduce((sum, share) => sum + share, 0)
  expect(script).toContain(`const perRound = ${perRound}\n`)
})
