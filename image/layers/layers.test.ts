import { expect, it } from 'vitest'
import { sourcesFor } from '../parts/debian-packages.ts'
import { requireIntegrity } from '../parts/node-release.ts'
import { architectureOf } from '../parts/platform.ts'
import { isNeededAtRunTime } from './debian-layer.ts'

const paths: Readonly<Record<string, readonly [boolean, string]>> = {
  'a library is needed': [true, 'usr/lib/x86_64-linux-gnu/libc.so.6'],
  'the loader is needed': [true, 'usr/lib64/ld-linux-x86-64.so.2'],
  'a library of a package that still has it in /lib is needed': [true, 'lib/x86_64-linux-gnu/libtinfo.so.6'],
  'the interpreter of the helper is needed': [true, 'usr/bin/python3.13'],
  'a licence has to come along with what it is for': [true, 'usr/share/doc/libc6/copyright'],
  'a shell would be there for an intruder alone': [false, 'usr/bin/dash'],
  'a tool of the C library is run by no program of ours': [false, 'usr/sbin/ldconfig'],
  'tables of character sets are 8 MB that Node.js never opens': [false, 'usr/lib/x86_64-linux-gnu/gconv/EUC-JP.so'],
  'a manual is read elsewhere': [false, 'usr/share/man/man1/python3.1.gz'],
  'a debugger is no part of python3': [false, 'usr/bin/pdb3'],
}
it.each(Object.entries(paths))('%s', (_, [isNeeded, path]) => {
  expect(isNeededAtRunTime(path)).toBe(isNeeded)
})

it('libraries come from the mirror that this system uses, with their security updates', () => {
  const mirrors = ['http://mirror.test/debian-security/', 'http://mirror.test/debian/']
  const sources = sourcesFor(mirrors).trim().split('\n')
  expect(sources.map((line) => line.replace(/.*\] /, ''))).toEqual([
    'http://mirror.test/debian/ trixie main',
    'http://mirror.test/debian-security/ trixie-security main',
  ])
  expect(sources.every((line) => line.includes('signed-by='))).toBe(true)
})

it('a system without Debian is told what is missing', () => {
  expect(() => sourcesFor(['http://mirror.test/ubuntu/'])).toThrow('no mirror of Debian')
})

it('a Node.js that is not the one we pinned gets into no image', () => {
  const pinned = 'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=='
  requireIntegrity('nothing', Buffer.from(''), pinned)
  expect(() => requireIntegrity('node', Buffer.from('evil'), pinned)).toThrow('node is not the package that was pinned')
})

it('a machine that there is no image for is told so', () => {
  expect(architectureOf('x64')).toBe('amd64')
  expect(() => architectureOf('s390x')).toThrow('there is no image for s390x')
})
