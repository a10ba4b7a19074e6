import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'cofferdam-krew-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const downloads = 'https://forge.example/cofferdam/releases/download/v0.1.0'
const homepage = 'https://forge.example/cofferdam'
const make = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/krew-manifest.mjs', ...args], { cwd: root, encoding: 'utf8' })

interface Platform {
  readonly selector: {
    readonly matchExpressions: readonly { readonly key: string; readonly values: readonly string[] }[]
  }
  readonly uri: string
  readonly sha256: string
  readonly bin: string
  readonly files?: unknown
}

interface Plugin {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<'version' | 'homepage' | 'shortDescription' | 'description' | 'caveats', string>> & {
    readonly platforms: readonly Platform[]
  }
}

describe('the manifest for krew', () => {
  const archive = join(folder, 'cofferdam-plugin.tar.gz')
  writeFileSync(archive, 'the archive')
  const { stdout, status } = make(archive, downloads, homepage)
  const { apiVersion, kind, metadata, spec } = load(stdout) as Plugin
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

  it('has what krew asks of every plugin: one that lacks it is refused by the index', () => {
    expect(status).toBe(0)
    expect({ apiVersion, kind }).toEqual({
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
    })
    expect(metadata.name).toMatch(/^[\w-]+$/)
    expect(spec.version).toBe(`v${version}`)
    expect(spec.version).toMatch(/^v\d+\.\d+\.\d+$/)
    expect(spec.description).not.toBe('')
    expect(spec.homepage).toBe(homepage)
  })

  it('describes itself in one line that the list of plugins has room for', () => {
    expect(spec.shortDescription).toMatch(/^[^\r\n]{10,60}$/)
    expect(spec.shortDescription).not.toMatch(/kubectl|plugin/i)
  })

  it('chooses platforms by os and arch alone, and none on which the file does not start', () => {
    const chosen = spec.platforms.flatMap(({ selector }) => selector.matchExpressions)
    expect(chosen).toEqual([{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }])
  })

  it('has the address and the sum of the very archive: with another sum no installation ends', () => {
    expect(spec.platforms.map(({ uri, sha256, bin, files }) => ({ uri, sha256, bin, files }))).toEqual([
      {
        uri: `${downloads}/cofferdam-plugin.tar.gz`,
        sha256: 'c8d18c54d108f4f0237eb4e1c4473cfd3dbd267afe97c2d967003bda0f546e08',
        bin: 'cofferdam.mjs',
        files: undefined,
      },
    ])
    expect(spec.platforms[0]?.sha256).toMatch(/^[a-f0-9]{64}$/)
  })

  it('says that Node.js is needed: without it the plugin is a file that does not start', () => {
    expect(spec.caveats).toContain('Node.js 20.19')
  })

  it('is not made without an archive', () => {
    expect(make(archive, downloads).status).toBe(2)
    expect(make(join(folder, 'none.tar.gz'), downloads, homepage).status).not.toBe(0)
  })
})

describe('the workflow of a release', () => {
  const workflow = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')

  it('packs the file that the manifest names, and publishes all three', () => {
    expect(workflow).toContain('npm run single-file -- release/cofferdam.mjs')
    expect(workflow).toMatch(/tar .*-czf release\/cofferdam-plugin\.tar\.gz .*cofferdam\.mjs/)
    expect(workflow).toMatch(/krew-manifest\.mjs release\/cofferdam-plugin\.tar\.gz .* > release\/cofferdam\.yaml/)
    for (const file of ['release/*.tar.gz', 'release/cofferdam.yaml', 'release/cofferdam.mjs']) {
      expect(workflow.slice(workflow.indexOf('gh release create'))).toContain(file)
    }
  })
})
