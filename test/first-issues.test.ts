import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const page = read('docs/first-issues.md')
/** What the examples create. */
const created = ['docs/door-light.md', 'packages/cofferdam/src/capabilities/door-light']

describe('the page of first issues', () => {
  it('names only files that are there: a newcomer who finds none gives up', () => {
    const named = [...page.matchAll(/\b(?:packages|test|docs|deploy|scenarios)\/[\w./-]*[\w/]/g)].map(([path]) => path)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((path) => !created.includes(path) && !existsSync(join(root, path)))).toEqual([])
  })

  const blocks = [...page.matchAll(/```diff (\S+)\n([\s\S]*?)```/g)].map(([, path = '', text = '']) => {
    const lines = text
      .split('\n')
      .map((line) => line.slice(3))
      .filter((line) => line !== '')
    return [path, lines] as const
  })

  it.each(blocks)('changes %s where it is as the page shows it, and has not been changed so', (path, lines) => {
    const before = lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
    const added = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1))
    expect(read(path)).toContain(before.join('\n'))
    expect(added.filter((line) => read(path).includes(line))).toEqual([])
  })

  it('runs only scripts of this package', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...page.matchAll(/`npm run ([\w:-]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it('copies a capability whose words are those that it replaces', () => {
    const toy = `${read('test/toy-capability/index.ts')}${read('test/toy-capability/controller.ts')}`
    const replaced = [...page.matchAll(/s\/([\w-]+)\/[\w-]+\/g/g)].map(([, word = '']) => word)
    expect(replaced.length).toBe(4)
    expect(replaced.filter((word) => !toy.includes(word))).toEqual([])
    expect(toy.match(/from '(?!@cofferdam\/|\.\/|prom-client)/g) ?? []).toEqual([])
    expect(toy.match(/@cofferdam\/product\/(?!shared\/|capabilities\/)/g) ?? []).toEqual([])
  })
})
