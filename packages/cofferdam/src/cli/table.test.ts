import { describe, expect, it } from 'vitest'
import { cut, renderTable } from './table.ts'

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

describe('a table that must fit', () => {
  const rows = [['web', 'x'.repeat(60), 'y'.repeat(40)]]
  const widthOf = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

  it('is as it is where it fits', () => {
    expect(renderTable(['A', 'B', 'C'], rows, { width: 200 })).toBe(renderTable(['A', 'B', 'C'], rows))
  })

  it('gives up of its widest columns, and shows that there is more', () => {
    const fitted = renderTable(['A', 'B', 'C'], rows, { width: 50 })
    expect(widthOf(fitted)).toBe(50)
    expect(fitted.split('\n')[1]).toMatch(/^web {2}x+… +y+…$/)
  })

  it('never cuts the first column: half of a name cannot be asked about', () => {
    const name = 'rook-ceph/rook-ceph-osd-zone-of-the-north'
    expect(renderTable(['A', 'B'], [[name, 'y'.repeat(40)]], { width: 60 }).split('\n')[1]).toBe(
      `${name}  ${'y'.repeat(16)}…`,
    )
  })

  it('keeps colours around what is cut: they would run into the next line', () => {
    expect(cut('\u001b[31mlong text\u001b[39m', 5)).toBe('\u001b[31mlong…\u001b[39m')
  })

  it('keeps columns readable where nothing fits', () => {
    expect(renderTable(['A', 'B', 'C'], rows, { width: 10 }).split('\n')[1]).toMatch(/^web {2}x{11}… {2}y{11}…$/)
  })
})
