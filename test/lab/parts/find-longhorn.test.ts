import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { needsLonghorn, suitesWithLonghorn } from './find-longhorn.ts'

const lab = fileURLToPath(new URL('..', import.meta.url))

describe("whether Longhorn's own code is built", () => {
  const choices: Readonly<Record<string, readonly [readonly string[], boolean]>> = {
    'all suites run, so Longhorn is built': [[], true],
    'a suite without Longhorn is named, and nobody waits for Go': [['ceph-drain'], false],
    'a suite with a simulated Longhorn alone is named, and nobody waits for Go': [['longhorn-guide'], false],
    'all suites about Longhorn are named at once': [['longhorn'], true],
    'one of several named suites has Longhorn': [['ceph-drain', 'longhorn-oracle'], true],
    'a suite is named by its path': [['test/lab/longhorn-oracle.lab.ts'], true],
  }
  it.each(Object.entries(choices))('%s', (_, [chosen, needed]) => {
    expect(needsLonghorn(chosen)).toBe(needed)
  })

  it('the list names exactly the suites that run it, so that none builds it while its own clock runs', () => {
    const asking = readdirSync(lab)
      .filter((name) => name.endsWith('.lab.ts'))
      .filter((name) => readFileSync(`${lab}/${name}`, 'utf8').includes('./parts/find-longhorn.ts'))
    expect(asking).toEqual(suitesWithLonghorn)
  })
})
