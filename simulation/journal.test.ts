import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Journal, openJournal } from './journal.ts'

interface Outcome {
  readonly seed: number
  readonly hash: string
}

const head = { program: 'abc', isShort: true, twice: false }
let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'))
  file = join(folder, 'run')
})
afterEach(() => rmSync(folder, { recursive: true }))

function open(given = head): Journal<Outcome> {
  const journal = openJournal<Outcome>(file, given)
  if (typeof journal === 'string') throw new Error(journal)
  return journal
}

it('a run that is ended and begun again knows what it has played: a hundred thousand seeds need not fit in one night', () => {
  const first = open()
  expect(first.noted.size).toBe(0)
  first.note({ seed: 7, hash: 'seven' })
  first.note({ seed: 9, hash: 'nine' })
  first.close()
  const second = open()
  expect([...second.noted]).toEqual([
    [7, { seed: 7, hash: 'seven' }],
    [9, { seed: 9, hash: 'nine' }],
  ])
  second.note({ seed: 8, hash: 'eight' })
  second.close()
  expect([...open().noted.keys()]).toEqual([7, 9, 8])
})

it('a line that a killed run has left half written is played again, and does not spoil the next', () => {
  const first = open()
  first.note({ seed: 7, hash: 'seven' })
  first.close()
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"seed":8,"ha`)
  const second = open()
  second.note({ seed: 9, hash: 'nine' })
  second.close()
  expect([...open().noted.keys()]).toEqual([7, 9])
})

it.each([
  { ...head, program: 'another' },
  { ...head, isShort: false },
  { ...head, twice: true },
])(
  'outcomes of another program or of other stories are not counted as ours: $program, short $isShort, twice $twice',
  (other) => {
    open().close()
    expect(openJournal(file, other)).toMatch(/^simulate: .* was begun by another program, with other options/)
  },
)

it('a file that is something else is left as it is', () => {
  writeFileSync(file, 'my notes\n')
  expect(openJournal(file, head)).toContain('is no journal')
  expect(readFileSync(file, 'utf8')).toBe('my notes\n')
})

it('a line that is no outcome is named', () => {
  open().close()
  writeFileSync(file, `${readFileSync(file, 'utf8')}null\n`)
  expect(openJournal(file, head)).toContain('line 2 of')
})

it('a folder that is not there is said', () => {
  expect(openJournal(join(folder, 'none', 'run'), head)).toMatch(/^simulate: .* cannot be written: /)
})
