import { describe, expect, it } from 'vitest'
import { parsePage } from '../markdown/parse-page.ts'
import { findBrokenAddresses } from './find-broken-addresses.ts'
import { findBrokenLinks } from './find-broken-links.ts'

const files = new Set(['LICENSE', 'examples', 'docs/images/page.png'])
const brokenIn = (markdown: string) =>
  findBrokenLinks(
    [
      parsePage({ file: 'docs/guide/install.md', markdown }),
      parsePage({ file: 'docs/drain.md', markdown: '# Drain\n\n## The queue\n' }),
    ],
    (path) => files.has(path),
  )

describe('a link in a document', () => {
  it.each<[string, string, string[]]>([
    ['leads to another document', '[a](../drain.md)', []],
    ['leads to a heading of it', '[a](../drain.md#the-queue)', []],
    [
      'that leads to a heading which was renamed is found, in a table too',
      '| a |\n|---|\n| [a](../drain.md#the-line) |',
      ['docs/guide/install.md → ../drain.md#the-line: there is no such heading'],
    ],
    ['leads to a heading of its own document', '# The image\n\n- [a](#the-image)', []],
    [
      'to a heading that its document lacks is found',
      '[a](#b)',
      ['docs/guide/install.md → #b: there is no such heading'],
    ],
    ['leads to a file that is no document, or to a folder', '[a](../../LICENSE) [b](../../examples/)', []],
    [
      'to a document that was deleted is found',
      '[a](../gone.md)',
      ['docs/guide/install.md → ../gone.md: there is no such file'],
    ],
    ['shows a picture', '![a](../images/page.png)', []],
    [
      'to a picture that is not there is found: readers would see its text only',
      '![a](../images/gone.png)',
      ['docs/guide/install.md → ../images/gone.png: there is no such file'],
    ],
    ['to another site is not followed', '[a](https://kubernetes.io/docs/) [b](mailto:a@example.org)', []],
    ['in code is no link', '`[a](gone.md)`', []],
  ])('%s', (_, markdown, broken) => {
    expect(brokenIn(markdown)).toEqual(broken)
  })
})

describe('an address in the built site', () => {
  const site = (html: string) =>
    new Map([
      ['guide/install.html', html],
      ['drain.html', '<h2 class="x" id="the-queue">'],
    ])

  it.each<[string, string, string[]]>([
    ['leads to a page and to a heading', '<a class="x" href="../drain.html#the-queue">', []],
    [
      'to a page that was not written is found',
      '<a href="gone.html">',
      ['guide/install.html → gone.html: there is no such file'],
    ],
    [
      'to a heading without that name is found',
      '<a href="../drain.html#gone">',
      ['guide/install.html → ../drain.html#gone: there is no such heading'],
    ],
    [
      'of a picture that was not copied is found',
      '<img src="gone.png">',
      ['guide/install.html → gone.png: there is no such file'],
    ],
  ])('%s', (_, html, broken) => {
    expect(findBrokenAddresses(site(html))).toEqual(broken)
  })
})
