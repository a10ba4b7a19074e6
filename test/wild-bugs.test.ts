import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './architecture/module-graph.ts'

const page = readFileSync(join(root, 'docs/reference/wild-bugs.md'), 'utf8')
const rows = page
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells[3]?.startsWith('`'))
  .map(([, source = '', , file = '', name = '']) => ({ source, file: file.replaceAll('`', ''), name }))

it('every bug of the page has a test of that name in that file, or the page would promise what nothing holds', () => {
  expect(rows.length).toBeGreaterThan(18)
  const missing = rows.filter(
    ({ file, name }) => !existsSync(join(root, file)) || !readFileSync(join(root, file), 'utf8').includes(name),
  )
  expect(missing).toEqual([])
})
