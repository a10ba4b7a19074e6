import { describe, expect, it } from 'vitest'
import { matchSections, type Section } from './match-sections.ts'

const section = (heading: string, text: string): Section => ({ page: 'Page', heading, address: 'page.html', text })
const sections = [
  section('Budgets', 'A drain waits for budgets. The drain goes on.'),
  section('Drain a node', 'Cordon it and evict its pods.'),
  section('Locks', 'An owner blocks evictions.'),
]
const found = (query: string) => matchSections(sections, query, 10).map((match) => match.section.heading)

describe('the search', () => {
  it.each<[string, string, string[]]>([
    ['finds a word in any case', 'OWNER', ['Locks']],
    ['puts a heading before a text that has the word more often', 'drain', ['Drain a node', 'Budgets']],
    ['wants every word, in heading or text', 'drain evict', ['Drain a node']],
    ['finds nothing for a word that no page has', 'zebra', []],
    ['finds nothing before a word is typed', '  ', []],
  ])('%s', (_, query, headings) => {
    expect(found(query)).toEqual(headings)
  })

  it('shows the words around the place, from a whole word on', () => {
    const long = section('Long', `${'begin '.repeat(20)}needle${' end'.repeat(60)}`)
    const [match] = matchSections([long], 'needle', 1)
    expect(match?.excerpt).toMatch(/^…begin (begin )*needle( end)+/)
  })
})
