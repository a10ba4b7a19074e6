import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { builtPackages, kubernetesVersion, versionFlags } from './build-kubernetes.ts'
import { isAtLeast } from './go-build.ts'

const goMod = await readFile(new URL('./kubernetes/go.mod', import.meta.url), 'utf8')

describe('building Kubernetes', () => {
  it('all parts of Kubernetes are of one version, since a mixed server would prove nothing', () => {
    const staged = [...goMod.matchAll(/^replace (\S+) => (\S+) v(\S+)$/gm)].map(([, from, to, version]) => ({
      from,
      to,
      version,
    }))
    expect(staged.length).toBeGreaterThan(30)
    const expected = kubernetesVersion.replace(/^1\./, '0.')
    expect(staged).toEqual(staged.map(({ from }) => ({ from, to: from, version: expected })))
  })

  it('every program that is built is a tool of the module, so that its sums are checked and kept', () => {
    const tools = goMod.slice(goMod.indexOf('\ntool (')).match(/^\t\S+$/gm)
    expect(tools?.map((line) => line.trim()).sort()).toEqual(Object.values(builtPackages).sort())
  })

  it('the server calls itself by the version it is built from', () => {
    expect(versionFlags('1.36.4').split(' -X ')).toEqual([
      '-s -w',
      'k8s.io/component-base/version.gitVersion=v1.36.4',
      'k8s.io/component-base/version.gitMajor=1',
      'k8s.io/component-base/version.gitMinor=36',
      'k8s.io/client-go/pkg/version.gitVersion=v1.36.4',
    ])
  })

  const versions: Readonly<Record<string, readonly [string, boolean]>> = {
    'the oldest Go that is good enough is taken': ['go1.26.0', true],
    'a first release without a last number is taken': ['go1.26', true],
    'a later minor is newer, also where it sorts before as text': ['go1.100.1', true],
    'an older minor is refused, whatever its last number': ['go1.25.99', false],
    'a later major is taken': ['go2.0', true],
    'a development version is tried rather than refused': ['devel +abc', true],
  }
  it.each(Object.entries(versions))('%s', (_, [answer, taken]) => {
    expect(isAtLeast(answer, '1.26.0')).toBe(taken)
  })
})
