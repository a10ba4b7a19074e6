import { describe, expect, it } from 'vitest'
import type { CephCommand } from './ceph-commands.ts'
import { buildCommandLine } from './command-line.ts'

describe('the command line that says the same as a command', () => {
  const cases: Record<string, { command: CephCommand; argv: string }> = {
    'a command without arguments': { command: { prefix: 'quorum_status' }, argv: 'quorum_status --format json' },
    'a prefix of several words': { command: { prefix: 'osd crush dump' }, argv: 'osd crush dump --format json' },
    'the PGs in JSON': {
      command: { prefix: 'pg dump', dumpcontents: ['pgs'] },
      argv: 'pg dump pgs --format json',
    },
    'the PGs as a table': {
      command: { prefix: 'pg dump', dumpcontents: ['pgs'], format: 'plain' },
      argv: 'pg dump pgs --format plain',
    },
    'several OSDs and a number as option': {
      command: { prefix: 'osd ok-to-stop', ids: ['0', '1'], max: 20 },
      argv: 'osd ok-to-stop 0 1 --max 20 --format json',
    },
    'flags before those who get them, in whatever order they are given': {
      command: { prefix: 'osd set-group', who: ['zone-a', 'zone-b'], flags: 'noout' },
      argv: 'osd set-group noout zone-a zone-b --format json',
    },
    'the same to take them away': {
      command: { prefix: 'osd unset-group', flags: 'noout', who: ['zone-a'] },
      argv: 'osd unset-group noout zone-a --format json',
    },
    'a word that asks for more': {
      command: { prefix: 'osd pool ls', detail: 'detail' },
      argv: 'osd pool ls detail --format json',
    },
    'one OSD or all': { command: { prefix: 'osd metadata', id: 3 }, argv: 'osd metadata 3 --format json' },
  }
  it.each(Object.entries(cases))('%s', (_, { command, argv }) => {
    expect(buildCommandLine(command)).toEqual(argv.split(' '))
  })

  it('keeps a name with spaces in one argument', () => {
    const command = { prefix: 'osd set-group', flags: 'noout', who: ['a b; reboot'] }
    expect(buildCommandLine(command)).toEqual(['osd', 'set-group', 'noout', 'a b; reboot', '--format', 'json'])
  })

  it.each(['--conf=/evil', '-m', ''])('refuses the name %j, which the program would not take as a name', (name) => {
    const command = { prefix: 'osd set-group', flags: 'noout', who: [name] }
    expect(() => buildCommandLine(command)).toThrow(expect.objectContaining({ code: 'CEPH_UNREACHABLE' }))
  })

  it('knows its commands, and takes a new one for a mistake of ours', () => {
    expect(() => buildCommandLine({ prefix: 'osd purge', id: 1 })).toThrow('no order of arguments is known')
    expect(() => buildCommandLine({ prefix: 'status', detail: 'all' })).toThrow('takes no argument detail')
    expect(() => buildCommandLine({ prefix: 'osd metadata', id: { a: 1 } })).toThrow('neither text nor number')
  })
})
