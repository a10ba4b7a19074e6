import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createCommands } from '../commands.ts'
import { runProgram } from '../program.ts'
import { createTerminal } from '../terminal.ts'

async function completion(shell: string) {
  const written = { out: '', err: '' }
  const code = await runProgram({
    argv: ['completion', shell],
    commands: createCommands({ pageDirectory: '', defaultClusterFile: '' }),
    version: '0.0.0',
    terminal: createTerminal({
      stdout: { write: (text) => (written.out += text) },
      stderr: { write: (text) => (written.err += text) },
      environment: {},
    }),
    signal: new AbortController().signal,
    debug: false,
  })
  return { code, ...written }
}

/** What bash would offer for the last of these words, asked in a bash. */
function offered(script: string, ...words: string[]): string[] {
  const asked = `${script}
COMP_WORDS=(cofferdam "$@")
COMP_CWORD=$#
_cofferdam
printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['--norc', '-c', asked, 'bash', ...words], { encoding: 'utf8' })
  return out.split('\n').filter((word) => word !== '')
}

describe('completion in bash', async () => {
  const { code, out: script, err } = await completion('bash')

  it('is a script and nothing else', () => {
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  const cases: Record<string, { given: string[]; then: string[] }> = {
    'a command that was begun is completed': { given: ['unc'], then: ['uncordon'] },
    'a word that begins several offers all of them': { given: ['un'], then: ['uncordon', 'uninstall', 'unlock'] },
    'after a group come its commands': { given: ['plan', 'osd'], then: ['osd-update'] },
    'flags are those of the command': { given: ['drain', '--int'], then: ['--intent'] },
    'flags of every command are offered too, but not those of another command': {
      given: ['status', '--req'],
      then: ['--request-timeout'],
    },
    'a flag of another command is not offered: it would be refused': { given: ['status', '--intent'], then: [] },
    'a flag with known values is followed by them': {
      given: ['drain', '--intent', 're'],
      then: ['reboot', 'remove', 'replace'],
    },
    'so is one that is written with =, which bash takes for a word': {
      given: ['status', '--output', '=', 'j'],
      then: ['json'],
    },
    'and right after the =': { given: ['status', '-o', '='], then: ['text', 'wide', 'json', 'yaml'] },
    'a value that is called like a command is no command': { given: ['--context', 'plan', 'osd'], then: [] },
    'a command after a flag with its value is found': { given: ['-o', 'json', 'plan', 'o'], then: ['osd-update'] },
    'a value that can be anything offers nothing, no flag in its place': { given: ['drain', '--reason', ''], then: [] },
    'an argument with known values is completed': { given: ['completion', 'z'], then: ['zsh'] },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(offered(script, ...given)).toEqual(then)
  })
})

describe.each(['zsh', 'fish'])('completion in %s', (shell) => {
  it('names every command and every value', async () => {
    const { code, out } = await completion(shell)
    expect(code).toBe(0)
    for (const word of ['uncordon', 'osd-update', 'request-timeout', 'reboot remove replace', 'bash zsh fish']) {
      expect(out).toContain(word)
    }
  })
})

it('an unknown shell is wrong usage, with those there are', async () => {
  const { code, err } = await completion('tcsh')
  expect(code).toBe(2)
  expect(err).toContain('Allowed choices are bash, zsh, fish.')
})
