import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { arrange, type Entry, fileOf, folderOf, linkOf } from './entry.ts'
import { readFolder } from './read-folder.ts'
import { writeFolder } from './write-folder.ts'
import { writeTar } from './write-tar.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cofferdam-tar-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const bytes = (entries: readonly Entry[]) => Buffer.concat([...writeTar(arrange(entries))])
const deep = `${'a-long-name/'.repeat(12)}end`

function unpacked(entries: readonly Entry[]): string {
  writeFileSync(join(folder, 'layer.tar'), bytes(entries))
  const into = join(folder, 'unpacked')
  mkdirSync(into)
  execFileSync('tar', ['-xpf', join(folder, 'layer.tar'), '-C', into])
  return into
}

describe('a layer', () => {
  it('is read by the tar of the system: files, folders, links and paths of more than 100 bytes', () => {
    const into = unpacked([
      fileOf('usr/bin/node', 'binary', 0o755),
      fileOf(deep, 'found'),
      linkOf('bin', 'usr/bin'),
      folderOf('tmp', 0o1777),
    ])
    expect(readFileSync(join(into, 'bin/node'), 'utf8')).toBe('binary')
    expect(readFileSync(join(into, deep), 'utf8')).toBe('found')
    expect(statSync(join(into, 'usr/bin/node')).mode & 0o7777).toBe(0o755)
    expect(statSync(join(into, 'tmp')).mode & 0o7777).toBe(0o1777)
    expect(statSync(join(into, 'usr/bin/node')).mtimeMs).toBe(0)
  })

  it('has the same bytes whatever order its parts come in: a digest that changes says that the content has', () => {
    const parts = [fileOf('b/one', '1'), fileOf('a/two', '2'), linkOf('c', 'a')]
    expect(bytes(parts)).toEqual(bytes(parts.toReversed()))
  })

  it('has other bytes when one file has', () => {
    expect(bytes([fileOf('a', '1')])).not.toEqual(bytes([fileOf('a', '2')]))
  })

  it('refuses a path that no header has room for: it would be cut, and end up elsewhere', () => {
    expect(() => bytes([fileOf('x'.repeat(120), '')])).toThrow('is too long for a tar header')
  })
})

describe('what is read from a folder', () => {
  it('does not depend on when and by which umask it was made, and takes no setuid along', () => {
    const make = (name: string, mode: number, at: number) => {
      const into = join(folder, name)
      mkdirSync(into)
      writeFileSync(join(into, 'program'), 'x')
      chmodSync(join(into, 'program'), mode)
      utimesSync(join(into, 'program'), at, at)
      symlinkSync('program', join(into, 'link'))
      return bytes(readFolder(into))
    }
    expect(make('one', 0o4755, 1_000)).toEqual(make('other', 0o700, 2_000))
  })

  it('is the same again after it was written into another folder, as the Containerfile does', () => {
    const entries = arrange([
      fileOf('usr/bin/node', 'x', 0o755),
      fileOf('etc/passwd', 'root'),
      linkOf('bin', 'usr/bin'),
    ])
    writeFolder(entries, join(folder))
    expect(arrange(readFolder(folder))).toEqual(entries)
  })
})
