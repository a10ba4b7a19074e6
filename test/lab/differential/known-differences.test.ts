import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { knownDifferences } from './known-differences.ts'

it('the page about differences tells each of them and why, and no other', () => {
  const page = readFileSync('docs/reference/embedded-differences.md', 'utf8')
  const told = page.split('\n').filter((line) => line.startsWith('- '))
  expect(told).toEqual(knownDifferences.map(({ says, because }) => `- **${says}** ${because}`))
})
