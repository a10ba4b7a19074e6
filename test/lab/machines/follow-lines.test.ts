import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { followLines } from './follow-lines.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'follow-lines-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('gives every line that came since, whole, and the half line that a killed process left', () => {
  const file = join(folder, 'a.log')
  appendFileSync(file, 'of an earlier start\n')
  const lines: string[] = []
  const end = followLines(file, (line) => lines.push(line))
  appendFileSync(file, `one\n\n${'ü'.repeat(70_000)}\nha`)
  end()
  expect(lines).toEqual(['one', 'ü'.repeat(70_000), 'ha'])
})
