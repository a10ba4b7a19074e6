import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BuiltSite, buildSite } from './build-site.ts'
import { addressOf } from './pages/address-of.ts'
import { findPages } from './pages/find-pages.ts'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'cofferdam-site-'))
let site: BuiltSite
beforeAll(() => {
  site = buildSite(root, folder, '')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('README, the documents beside it and docs/', () => {
  it('have no link, picture or heading that leads nowhere, in the repository and on the site', () => {
    expect(site.broken).toEqual([])
  })

  it('are all on the site, and each can be reached from its start', () => {
    const addresses = findPages(root).map(({ file }) => addressOf(file))
    const start = readFileSync(join(folder, 'index.html'), 'utf8')
    const unreached = addresses.filter((address) => address !== 'index.html' && !start.includes(`href="${address}"`))
    expect(addresses.length).toBeGreaterThan(50)
    expect(unreached).toEqual([])
  })

  it('begin with one title each: without it the navigation would show the name of a file', () => {
    const code = /^```[\s\S]*?^```/gm
    const untitled = findPages(root).filter(({ markdown }) => markdown.replace(code, '').match(/^# /gm)?.length !== 1)
    expect(untitled.map(({ file }) => file)).toEqual([])
  })
})

describe('a page', () => {
  const page = () => site.files.get('guide/install.html') ?? ''

  it('marks itself in the navigation, and no other', () => {
    expect(page().match(/<a href="[^"]*" aria-current="page">[^<]*/g)).toEqual([
      '<a href="install.html" aria-current="page">Install',
    ])
  })

  it('leads to files that are no documents: the site must not need a forge', () => {
    expect(page()).toContain('href="../files/deploy/helm/cofferdam/values.yaml.html"')
    expect(site.files.get('files/deploy/helm/cofferdam/values.yaml.html')).toContain('image:')
  })
})

it('what a document says in angle brackets is shown, and never becomes an element of the page', () => {
  const scripts = [...site.files.values()].flatMap((html) => html.match(/<script[^>]*>/g) ?? [])
  expect(new Set(scripts.map((script) => script.replace(/src="(\.\.\/)*/, 'src="')))).toEqual(
    new Set(['<script src="search.js" defer>']),
  )
})
