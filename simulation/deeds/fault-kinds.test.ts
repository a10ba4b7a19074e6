import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { faultKinds } from './fault-kinds.ts'

it('the reference page lists every fault with its row, or people believe in faults that are never tried', () => {
  const page = readFileSync('docs/reference/reliability.md', 'utf8')
  const listed = [...page.matchAll(/^\| (F\d+) \| (.+) \|$/gm)].map(([, row, kind]) => `${row} ${kind}`)
  const known = Object.entries(faultKinds).map(([kind, { row }]) => `${row} ${kind}`)
  expect(listed.sort()).toEqual(known.sort())
})
