import { expect, it } from 'vitest'
import { needsHelm } from './find-helm.ts'

const choices: Readonly<Record<string, readonly [readonly string[], boolean]>> = {
  'all suites run, so Helm is built': [[], true],
  'its suite is named': [['helm'], true],
  'another suite is named, and nobody waits for Go': [['ceph-drain'], false],
}
it.each(Object.entries(choices))('%s', (_, [chosen, needed]) => {
  expect(needsHelm(chosen)).toBe(needed)
})
