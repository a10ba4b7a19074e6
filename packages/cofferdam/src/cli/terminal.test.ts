import { describe, expect, it } from 'vitest'
import { createTerminal } from './terminal.ts'

function recorded(isTTY: boolean, environment: Record<string, string> = {}) {
  const written = { out: '', err: '' }
  const terminal = createTerminal({
    stdout: { isTTY, write: (text) => (written.out += text) },
    stderr: { isTTY, write: (text) => (written.err += text) },
    environment,
  })
  return { terminal, written }
}

describe('colours', () => {
  const cases: Record<string, { isTTY: boolean; environment: Record<string, string>; then: string }> = {
    'are shown on a terminal': { isTTY: true, environment: {}, then: '\u001b[32mok\u001b[39m' },
    'are left out in a pipe': { isTTY: false, environment: {}, then: 'ok' },
    'are left out where NO_COLOR is set': { isTTY: true, environment: { NO_COLOR: '1' }, then: 'ok' },
    'are left out on a dumb terminal': { isTTY: true, environment: { TERM: 'dumb' }, then: 'ok' },
  }
  it.each(Object.entries(cases))('%s', (_name, { isTTY, environment, then }) => {
    expect(recorded(isTTY, environment).terminal.paint('green', 'ok')).toBe(then)
  })
})

describe('progress', () => {
  it('replaces itself on a terminal and is gone before anything else is printed', () => {
    const { terminal, written } = recorded(true)
    terminal.progress('1 of 2')
    terminal.progress('2 of 2')
    terminal.progress('2 of 2')
    terminal.print('done')
    expect(written).toEqual({ out: 'done\n', err: '1 of 2\r\u001b[2K2 of 2\r\u001b[2K' })
  })

  it('is not written to a pipe', () => {
    const { terminal, written } = recorded(false)
    terminal.progress('1 of 2')
    terminal.note('a note')
    expect(written).toEqual({ out: '', err: 'a note\n' })
  })
})

describe('what was overlooked before it is printed', () => {
  const evil = 'a\u001b[2J\u009b\u202eb\rc\u0007'
  const shown = 'a\\x1b[2J\\x9b\\u202eb\\rc\\x07'

  it.each([true, false])('moves no cursor and rings no bell (on a terminal: %s)', (isTTY) => {
    const { terminal, written } = recorded(isTTY)
    terminal.print(`${terminal.paint('red', evil)}\nnext\tcolumn`)
    terminal.note(evil)
    const red = isTTY ? `\u001b[31m${shown}\u001b[39m` : shown
    expect(written).toEqual({ out: `${red}\nnext\tcolumn\n`, err: `${shown}\n` })
  })

  it('keeps the line that replaces itself on one line', () => {
    const { terminal, written } = recorded(true)
    terminal.progress('1\n2')
    expect(written.err).toBe('1\\n2')
  })
})

describe('a result that is drawn again', () => {
  it('takes the place of the one before on a terminal', () => {
    const { terminal, written } = recorded(true)
    terminal.redraw('one')
    terminal.redraw('two')
    expect(written.out).toBe('\u001b[H\u001b[2Jone\n\u001b[H\u001b[2Jtwo\n')
  })

  it('comes after the one before in a pipe: nothing that was seen is lost', () => {
    const { terminal, written } = recorded(false)
    terminal.redraw('one')
    terminal.redraw('two')
    expect(written.out).toBe('one\ntwo\n')
  })
})
