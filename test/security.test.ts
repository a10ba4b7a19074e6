import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/security/README.md'), 'utf8')
const model = page.slice(0, page.indexOf('## Admission policies'))
const rows = model.split('\n').filter((line) => /^\| (?!It tries|Whoever|---)/.test(line) && !line.startsWith('|---'))

describe('the threat model', () => {
  it.each(rows)('names a test that there is: %s', (row) => {
    const named = /`([^`]+\.(?:test|walk)\.ts)` \|$/.exec(row)?.[1]
    expect(named).toBeDefined()
    expect(existsSync(join(root, named ?? ''))).toBe(true)
    expect(readFileSync(join(root, named ?? ''), 'utf8')).toMatch(/\bit(\.each)?\(/)
  })

  it('has rows for every actor', () => {
    const sections = model.split(/^## /m).slice(1)
    expect(sections.length).toBeGreaterThanOrEqual(6)
    for (const section of sections) expect(section).toMatch(/\.test\.ts` \|/)
  })

  it('is linked from where reports of vulnerabilities begin', () => {
    expect(readFileSync(join(root, 'SECURITY.md'), 'utf8')).toContain('(docs/security/README.md)')
  })
})

describe('the lockfile', () => {
  interface Locked {
    readonly integrity?: string
    readonly link?: boolean
    readonly optional?: boolean
    readonly os?: readonly string[]
  }
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const fetched = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

  it('has a checksum for every package: without one a mirror could hand out anything. Left out are only binaries of single platforms that no mirror gave it for', () => {
    const bare = fetched.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)
    expect(fetched.length).toBeGreaterThan(100)
    expect(bare.filter(([, { optional, os }]) => optional !== true || os === undefined)).toEqual([])
  })
})
