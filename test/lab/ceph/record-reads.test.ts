import { parseQuorum } from '@cofferdam/product/ceph/parse-quorum.ts'
import { expect, it } from 'vitest'
import { recordReads } from './record-reads.ts'

it('what a parser looks at is known, and what it passes over is not', () => {
  const status = { quorum: [0], election_epoch: 3, monmap: { epoch: 1, mons: [{ rank: 0, name: 'a', addr: 'x' }] } }
  expect(recordReads(status, parseQuorum)).toEqual([
    'monmap',
    'monmap.mons',
    'monmap.mons[]',
    'monmap.mons[].name',
    'monmap.mons[].rank',
    'quorum',
    'quorum[]',
  ])
})

it('what it looked for in vain is left out, and names of things become one', () => {
  const read = (json: unknown) => Object.values(json as object).map(({ size, missing }) => [size, missing])
  expect(recordReads({ rep: { size: 3 }, ec: { size: 2 } }, read, /^$/)).toEqual(['*', '*.size'])
})
