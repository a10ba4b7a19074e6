import { describe, expect, it } from 'vitest'
import { buildNavigation } from './navigation.ts'

const sectionsOf = (...files: string[]) =>
  buildNavigation(files.map((file) => ({ file, title: `About ${file}` }))).map(({ title, pages }) => [
    title,
    ...pages.map(({ file }) => file),
  ])

describe('the navigation', () => {
  it.each<[string, string[], string[][]]>([
    [
      'has a page of a folder that it was never shown before, or a new page would be found by search only',
      ['docs/recipes/one.md', 'docs/drain.md'],
      [
        ['Topics', 'docs/drain.md'],
        ['Recipes', 'docs/recipes/one.md'],
      ],
    ],
    [
      'begins a folder with what is read first, others follow by title',
      ['docs/guide/longhorn.md', 'docs/guide/a-new-one.md', 'docs/guide/getting-started.md'],
      [['Guides', 'docs/guide/getting-started.md', 'docs/guide/longhorn.md', 'docs/guide/a-new-one.md']],
    ],
    [
      'keeps decisions in the order in which they were made',
      ['docs/decisions/0010-b.md', 'docs/decisions/0002-c.md'],
      [['Decisions', 'docs/decisions/0002-c.md', 'docs/decisions/0010-b.md']],
    ],
    [
      'has what is about the project at its end, and the README as its brand only',
      ['README.md', 'SECURITY.md', 'docs/drain.md'],
      [
        ['Topics', 'docs/drain.md'],
        ['Project', 'SECURITY.md'],
      ],
    ],
  ])('%s', (_, files, sections) => {
    expect(sectionsOf(...files)).toEqual(sections)
  })
})
