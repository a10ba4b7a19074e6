import { describe, expect, it } from 'vitest'
import { shortLine } from './short-line.ts'

const cases: Record<string, [string, string]> = {
  'a structured line becomes its time, level and message': [
    '{"level":"info","time":"2026-01-01T10:20:30.456Z","healthPort":7480,"msg":"operator started"}',
    '10:20:30.456 info operator started',
  ],
  'a structured line without a time keeps the rest': ['{"level":"warn","msg":"no lease"}', 'warn no lease'],
  'an object that is no log entry stays whole, since its facts are all it has': ['{"a":1}', '{"a":1}'],
  'a line of plain words stays as it is': ['node: bad option: --x', 'node: bad option: --x'],
  'half a line, as a killed process leaves it, stays as it is': ['{"level":"in', '{"level":"in'],
  'a very long line is cut, and shows that it was': ['x'.repeat(1_000), `${'x'.repeat(300)}…`],
}

describe('a line of a log in the journal', () => {
  it.each(Object.entries(cases))('%s', (_, [line, short]) => {
    expect(shortLine(line)).toBe(short)
  })
})
