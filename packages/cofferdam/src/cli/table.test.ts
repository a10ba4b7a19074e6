import { expect, it } from 'vitest'
import { renderTable } from './table.ts'

it('columns start under their headings and no line ends in spaces', () => {
  const rows = [
    ['worker-a1', 'Ready', ''],
    ['c', 'Cordoned', 'draining'],
  ]
  expect(renderTable(['NODE', 'STATE', 'NOTE'], rows).split('\n')).toEqual([
    'NODE       STATE     NOTE',
    'worker-a1  Ready',
    'c          Cordoned  draining',
  ])
})

it('colours take no room', () => {
  expect(renderTable(['A', 'B'], [['\u001b[32mok\u001b[39m', 'x']]).split('\n')).toEqual([
    'A   B',
    '\u001b[32mok\u001b[39m  x',
  ])
})

it('a table without rows is its headings', () => {
  expect(renderTable(['NAME', 'AGE'], [])).toBe('NAME  AGE')
})
