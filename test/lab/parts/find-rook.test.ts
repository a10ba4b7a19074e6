import { describe, expect, it } from 'vitest'
import { needsRook } from './find-rook.ts'

describe("whether Rook's own code is built", () => {
  const suites = ['ceph-drain.lab.ts', 'rook-drains.lab.ts', 'lab.ts']
  const choices: Readonly<Record<string, readonly [readonly string[], boolean]>> = {
    'all suites run, so Rook is built': [[], true],
    'a suite without Rook is named, and nobody waits for Go': [['ceph-drain'], false],
    'a suite with Rook is named by part of its name': [['rook'], true],
    'one of several named suites has Rook': [['ceph-drain', 'rook-drains'], true],
    'a suite is named by its path': [['test/lab/rook-drains.lab.ts'], true],
  }
  it.each(Object.entries(choices))('%s', (_, [chosen, needed]) => {
    expect(needsRook(chosen, suites)).toBe(needed)
  })
})
