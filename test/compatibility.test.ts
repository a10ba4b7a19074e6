import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readRooks } from '@cofferdam/product/capabilities/ceph-drain/domain/hand-over.ts'
import { judgedLonghorns } from '@cofferdam/product/capabilities/longhorn-drain/domain/hand-over-checks.ts'
import { versionRangeText } from '@cofferdam/product/shared/version-range.ts'
import { describe, expect, it } from 'vitest'
import { containerdVersion } from './lab/parts/build-containerd.ts'
import { helmVersion } from './lab/parts/build-helm.ts'
import { kubernetesVersion } from './lab/parts/build-kubernetes.ts'
import { longhornVersion } from './lab/parts/build-longhorn.ts'
import { longhornEngineVersion } from './lab/parts/build-longhorn-engine.ts'
import { rookVersion } from './lab/parts/build-rook.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const [, tried = '', expected = ''] = read('docs/reference/compatibility.md').split(/^## .*$/m)

/** Versions of each part in a table, by its first two columns. */
function versionsIn(table: string, part: string): string[] {
  const rows = [...table.matchAll(/^\| `?([^|`]+)`? \| ([^|]+) \|/gm)]
  return rows.filter(([, name]) => name === part).map(([, , version = '']) => version)
}

/** The numbers in the one line of a script that begins like this. */
function numbersIn(path: string, begin: string): string[] {
  const line = read(path)
    .split('\n')
    .find((text) => text.startsWith(begin))
  return [...(line ?? '').matchAll(/'(\d+)(?:\.[\d.]+)?'/g)].map(([, major = '']) => major)
}

describe('the page of compatibility claims what the suites use, and nothing else', () => {
  it.each([
    ['Kubernetes', kubernetesVersion],
    ['kubelet', kubernetesVersion],
    ['containerd', containerdVersion],
    ['Helm', helmVersion],
    ['Rook', rookVersion],
    ['Longhorn', longhornVersion],
    ["Longhorn's engine", longhornEngineVersion],
  ])('%s is the version that the lab builds', (part, version) => {
    expect(versionsIn(tried, part)).toEqual([version])
  })

  it('Ceph has a row for each release that the lab can run', () => {
    const releases = versionsIn(tried, 'Ceph').map((version) => version.replace(/ .*/, ''))
    expect(releases).toEqual(numbersIn('scripts/test-lab.mjs', 'const releases'))
  })

  it('Node.js has the releases that the package is tried with', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
    const others = numbersIn('scripts/test-package.mjs', 'const chosen')
    const own = /\d+/.exec(engines.node)?.[0]
    expect(versionsIn(tried, 'Node.js')).toEqual([[own, ...others].join(', ')])
    expect(versionsIn(expected, 'Node.js')).toEqual([engines.node.replace(/>=(.*)/, '$1 and newer')])
  })

  it.each([
    ['Rook', readRooks],
    ['Longhorn', judgedLonghorns],
  ])('%s is expected to work where adopt does not warn', (part, range) => {
    expect(versionsIn(expected, part)).toEqual([versionRangeText(range)])
  })

  it('names only suites that exist: a reader would run nothing', () => {
    const suites = [...tried.matchAll(/test:lab -- ([^`-][^`]*)`((?:, `[\w-]+`)*)/g)].flatMap(
      ([, first = '', rest = '']) => [first, ...[...rest.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)],
    )
    expect(suites.length).toBeGreaterThan(5)
    expect(suites.filter((suite) => !existsSync(join(root, `test/lab/${suite}.lab.ts`)))).toEqual([])
  })
})
