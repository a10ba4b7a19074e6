import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const source = read('packages/cofferdam/src/library/domain.ts')
const page = read('docs/reference/library.md')
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
)

/** Each with what is written right before it. */
const declared = [
  ...source.matchAll(/(?:^|(\*\/)\n)export (?:const|function|interface|type) (\w+)([\s\S]*?)(?=\n\n|$(?![\s\S]))/gm),
].map(([, comment, name = '', body = '']) => ({ name, isDescribed: comment !== undefined, body }))

describe('the page of the library', () => {
  it('has a section for everything that is exported, and for nothing else', () => {
    expect(declared.length).toBeGreaterThan(10)
    expect([...sections.keys()].sort()).toEqual(declared.map(({ name }) => name).sort())
  })

  it.each(
    declared.filter(({ body }) => body.trimStart().startsWith('{')).map(({ name, body }) => [name, body] as const),
  )('names every member of %s: what is not named is not found', (name, body) => {
    const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?:(]/gm)].map(([, member = '']) => member)
    const named = new Set([...(sections.get(name) ?? '').matchAll(/`(\w+)/g)].map(([, word]) => word))
    expect(members.filter((member) => !named.has(member))).toEqual([])
  })

  it('shows the example as it is', () => {
    const [, shown = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
    const [, ...lines] = read('examples/plan-rounds.mjs').split('\n')
    expect(shown).toBe(lines.join('\n'))
    expect(lines.length).toBeLessThanOrEqual(20)
  })
})

it('every function and value of the library says in its types what it does', () => {
  const values = declared.filter(({ name }) => /^[a-z]/.test(name))
  expect(values.filter(({ isDescribed }) => !isDescribed).map(({ name }) => name)).toEqual([])
})
