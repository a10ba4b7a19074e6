import { describe, expect, it } from 'vitest'
import { enterRoot, parseCephVersion, requireRelease } from './find-ceph.ts'

describe('programs of a real Ceph', () => {
  const answers: Readonly<Record<string, readonly [string, string | undefined]>> = {
    'a release of Debian 12 tells its number': [
      'ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)',
      '16.2.15',
    ],
    'a warning before the line is passed over': ['warning: no config\nceph version 20.2.4 (abc) tentacle', '20.2.4'],
    'a development version without a number is not taken for any': ['ceph version Development (no_version)', undefined],
    'silence is not taken for a version': ['', undefined],
  }
  it.each(Object.entries(answers))('%s', (_, [answer, version]) => {
    expect(parseCephVersion(answer)).toBe(version)
  })

  it('an unpacked program gets its arguments as they are, whatever blanks and quotes they hold', () => {
    const command = enterRoot('/a root', '/usr/bin/ceph-osd', '-i', "it's 3")
    expect(command.slice(command.indexOf('sh'))).toEqual([
      'sh',
      '-c',
      'mount --bind "$0" "$1" && shift && exec "$@"',
      '/a root/usr',
      '/usr',
      '/usr/bin/ceph-osd',
      '-i',
      "it's 3",
    ])
    expect(command.slice(0, command.indexOf('sh'))).toContain('--mount')
  })

  it('a system whose Ceph is another release is told so, and is not tested in the name of the one asked for', () => {
    expect(() => requireRelease('16', '18.2.7+ds-1', 'this system')).toThrow(
      'Ceph 16 was asked for, and this system has 18.2.7+ds-1',
    )
    expect(() => requireRelease('16', '16.2.15', 'this system')).not.toThrow()
  })
})
