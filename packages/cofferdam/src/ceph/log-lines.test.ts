import { expect, it } from 'vitest'
import { createLineCutter } from './log-lines.ts'

it('lines are put together from pieces, also those that are cut within a character', () => {
  const lines: string[] = []
  const cut = createLineCutter((line) => lines.push(line))
  const bytes = Buffer.from('größer\nosd.1 failed\nrest')
  for (const byte of bytes) cut(Buffer.from([byte]))
  expect(lines).toEqual(['größer', 'osd.1 failed'])
})

it('a stream that never ends a line is not kept for ever', () => {
  const lengths: number[] = []
  const cut = createLineCutter((line) => lengths.push(line.length))
  for (let piece = 0; piece < 50; piece += 1) cut(Buffer.alloc(1_000, 'x'))
  expect(lengths.length).toBeGreaterThan(3)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(11_000)
})
