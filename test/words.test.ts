import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findBannedWords } from './words/find-banned-words.ts'
import { requiredTerms } from './words/required-terms.ts'
import { textsOfDocument } from './words/texts-of-document.ts'
import { textsOfSource } from './words/texts-of-source.ts'
import { readUserTexts } from './words/user-texts.ts'

const root = resolve(import.meta.dirname, '..')

/** Written into objects of others and recognised there after an upgrade: a mark, not a sentence. */
const marks = new Set(['cofferdam: storage cannot spare a node now'])

describe('what a user reads', () => {
  const texts = readUserTexts().filter(({ says }) => !marks.has(says))

  it('has none of the words that only its authors understand', () => {
    expect(findBannedWords(texts)).toEqual([])
  })

  it.each(['.ts', '.tsx', 'README.md', 'CHANGELOG.md', 'docs/glossary.md', '.yaml'])('is found in %s', (end) => {
    expect(texts.some(({ file }) => file.endsWith(end))).toBe(true)
  })
})

describe('a banned word that is planted', () => {
  const inSource = (source: string) =>
    findBannedWords(textsOfSource(source, 'tsx').map((text) => ({ file: 'planted.tsx', ...text }))).map((found) =>
      found.replace(/;.*/, ''),
    )

  it.each([
    ['a literal', "note('Nobody has locked it')", 'planted.tsx:1 "Nobody" in "Nobody has locked it"'],
    ['a template', 'note(`node $' + '{name} is on its way`)', 'planted.tsx:1 "on its way" in "node … is on its way"'],
    ['a joined text', "note('it is in ' +\n 'turn')", 'planted.tsx:1 "in turn" in "it is in turn"'],
    ['the page', '<p>\n We told it\n</p>', 'planted.tsx:1 "told" in "We told it"'],
    ['an attribute of the page', '<p title="the whole story" />', 'planted.tsx:1 "story" in "the whole story"'],
  ])('in %s is found', (_, source, then) => {
    expect(inSource(source)).toEqual([then])
  })

  it.each([
    ['an import', "import { look } from './the look.ts'"],
    ['a name', 'const ourStory = tell(news)'],
    ['a key', "const words = { 'in turn': 1 }; words['in turn']"],
    ['a type', "type State = 'in turn' | 'on the way'"],
    ['a comparison', "if (state === 'in turn') go()"],
    ['a value of one word', "const state = 'silent'"],
    ['a comment', '// nobody told us'],
  ])('in %s is no text', (_, source) => {
    expect(inSource(source)).toEqual([])
  })

  it('in a document is found across lines, and not in what is quoted as code', () => {
    const document = '# Title\n\nSet `cofferdam.io/our-story`.\nThe drain is in\nturn.\n\n- We look\n'
    const found = findBannedWords(textsOfDocument(document).map((text) => ({ file: 'page.md', ...text })))
    expect(found.map((line) => line.replace(/ in .*/, ''))).toEqual(['page.md:3 "in turn"', 'page.md:7 "look"'])
  })
})

describe('the glossary', () => {
  const page = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  const defined = [...page.matchAll(/^\*\*(.+?)\*\*/gm)].map((match) => match[1] as string)

  it('defines every word that users meet', () => {
    expect(requiredTerms.filter((term) => !defined.includes(term))).toEqual([])
  })

  it('is in order and defines no word twice', () => {
    expect(defined).toEqual([...new Set(defined)].sort((one, other) => one.localeCompare(other)))
  })

  it.each(['README.md', 'docs/guide/getting-started.md'])('is linked from %s', (file) => {
    expect(readFileSync(join(root, file), 'utf8')).toMatch(/\]\([./a-z]*glossary\.md\)/)
  })
})
