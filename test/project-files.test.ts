import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

interface Workflow {
  readonly jobs: Record<string, { readonly steps: readonly { readonly run?: string }[] }>
}

describe.each(readdirSync(join(root, '.github/workflows')))('the workflow %s', (file) => {
  const { jobs } = load(read(`.github/workflows/${file}`)) as Workflow
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => run.split('\n')))

  it('calls only scripts of this package: a release would stop at the first other one', () => {
    const called = commands.flatMap((line) =>
      [...line.matchAll(/npm (?:run )?([\w:-]+)/g)].map(([, name = '']) => name),
    )
    const own = called.filter((name) => !['ci', 'pack', 'pkg', 'publish'].includes(name))
    expect(own.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it('names only files that are there', () => {
    const named = commands.flatMap((line) =>
      [...line.matchAll(/(?:scripts|\.ci|deploy)\/[\w./-]+/g)].map(([path]) => path),
    )
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

describe('templates of issues', () => {
  it.each(readdirSync(join(root, '.github/ISSUE_TEMPLATE')))(
    '%s can be read: a forge shows none where one is broken',
    (file) => {
      expect(load(read(`.github/ISSUE_TEMPLATE/${file}`))).toBeTypeOf('object')
    },
  )
})

describe('notes of a release', () => {
  const notes = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release-notes.mjs', ...args], { cwd: root, encoding: 'utf8' })

  it('have each heading of the changelog once, so that nobody misses the second part of it', () => {
    const headings = notes().stdout.match(/^## .*$/gm) ?? []
    expect(headings.length).toBeGreaterThan(1)
    expect(new Set(headings).size).toBe(headings.length)
  })

  it('have every line of the changelog', () => {
    const unreleased = read('CHANGELOG.md').split(/^## /m)[1] ?? ''
    const lines = unreleased.split('\n').filter((line) => line.startsWith('- '))
    const { stdout } = notes()
    expect(lines.filter((line) => !stdout.includes(line))).toEqual([])
  })

  it('of a version that the changelog does not know are an error: an empty release would be published', () => {
    expect(notes('v99.0.0')).toMatchObject({ status: 1, stdout: '' })
  })
})

it('package and chart have one version', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect(read('deploy/helm/cofferdam/Chart.yaml')).toContain(`\nversion: ${version}\n`)
})

describe('a deep test', () => {
  const deep = ['packages', 'scenarios', 'simulation', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.deep.test.ts') && !path.includes('node_modules'))
      .map((path) => join(folder, path)),
  )

  it.each(deep)(
    '%s takes the time of its suite: with less it fails at the lowest priority beside real clusters',
    (path) => {
      expect(read(path)).not.toMatch(/testTimeout|hookTimeout/)
    },
  )
})
