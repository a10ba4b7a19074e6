import { expect, it } from 'vitest'
import { createLog } from './log.ts'

it('a log line is one line of JSON that loses nothing and that no terminal obeys', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  const holder = 'bob\u001b[2J\u009b8m\u007f\u202e\nforged'
  log.warn({ holder }, holder)
  expect(lines).toHaveLength(1)
  const [line = ''] = lines
  expect(line.slice(0, -1)).toMatch(/^[\u0020-\u007e]*$/u)
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', holder, msg: holder })
})
