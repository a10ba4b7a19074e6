import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { reasons } from '@cofferdam/product/shared/reasons.ts'
import { describe, expect, it } from 'vitest'
import { parseRunbook, runbookParts } from './runbook/parse-runbook.ts'
import { wholeProgram } from './whole-program.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const pages = readdirSync(join(root, 'docs/runbook'))
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .sort()
const sections = pages.flatMap((page) => parseRunbook(page, read(`docs/runbook/${page}`)))
const pageOf = new Map(sections.map(({ reason, page }) => [reason, page]))
/** What a reader comes from and goes to. */
const documents = [
  ...pages.map((page) => `docs/runbook/${page}`),
  'docs/runbook/README.md',
  'docs/troubleshooting.md',
  'docs/faq.md',
  'docs/reference/alerts.md',
  'docs/reference/reasons.md',
]

describe('the runbook', () => {
  it('has one section for each reason and none for another: who searches for a word finds what to do', () => {
    expect(sections.map(({ reason }) => reason).sort()).toEqual(Object.keys(reasons).sort())
  })

  it.each(sections.map((section) => [section.reason, section] as const))(
    '%s begins with what the reason says, and has every part',
    (reason, { says, parts }) => {
      expect(says).toBe(reasons[reason as keyof typeof reasons])
      expect([...parts.keys()]).toEqual(runbookParts)
      expect([...parts].filter(([, text]) => !text.endsWith('.')).map(([part]) => part)).toEqual([])
    },
  )

  it.each(pages)('%s has its reasons in the order of the alphabet', (page) => {
    const here = sections.filter((section) => section.page === page).map(({ reason }) => reason)
    expect(here).toEqual([...here].sort())
  })

  it('is listed by its index, in full, and by the page of reasons', () => {
    const links = Object.keys(reasons)
      .sort()
      .map((reason) => ({ reason, to: `${pageOf.get(reason)}#${reason.toLowerCase()}` }))
    const rows = read('docs/runbook/README.md')
      .split('\n')
      .filter((line) => line.startsWith('| [`'))
    expect(rows).toEqual(
      links.map(({ reason, to }) => `| [\`${reason}\`](${to}) | ${pageOf.get(reason)?.replace('.md', '')} |`),
    )
    const table = read('docs/reference/reasons.md')
    const unlinked = links.filter(({ to }) => !table.includes(`| [runbook](../runbook/${to}) |`))
    expect(unlinked).toEqual([])
  })
})

describe.each(documents)('%s', (file) => {
  const text = read(file)

  it('leads to sections that exist: a link that ends at the top of a page costs minutes', () => {
    const broken = [...text.matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)]
      .filter(([, path = '']) => !path.startsWith('http'))
      .map(([, path = '', anchor = '']) => ({
        target: path === '' ? file : normalize(join(dirname(file), path)),
        anchor,
      }))
      .filter(({ target, anchor }) => !anchorsOf(read(target)).has(anchor))
    expect(broken).toEqual([])
  })

  it('names commands, metrics and annotations that exist: what is typed at 3 a.m. has to work', async () => {
    const unknown = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => whyUnknown(code))
    const metrics = new Set((await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name))
    const named = [...text.matchAll(/\bcofferdam_[a-z_]+/g)].map(([name]) => name)
    expect([...unknown, ...named.filter((name) => !metrics.has(name))]).toEqual([])
    const annotations = [...text.matchAll(/\bcofferdam\.io\/([a-z-]+)/g)].map(([name]) => name)
    expect(annotations.filter((name) => !sources.includes(name))).toEqual([])
  })
})

/** The titles of a page, as a page of GitHub links them. */
function anchorsOf(page: string): Set<string> {
  const titles = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

const program = wholeProgram()

function whyUnknown(code: string): string[] {
  if (!/^cofferdam [a-z]/.test(code)) return []
  const [first = '', second = ''] = code.split(' ').slice(1)
  const outer = program.commands.find((command) => command.name() === first)
  if (outer === undefined) return [`${code}: no such command`]
  const inner = outer.commands.find((command) => command.name() === second)
  if (outer.commands.length > 0 && inner === undefined) return [`${code}: no such command`]
  const flags = new Set(
    [...program.options, ...(inner ?? outer).options].flatMap(({ short, long }) => [short, long ?? '']),
  )
  const named = [...code.matchAll(/ (--?[a-z][a-z-]*)/g)].map(([, flag = '']) => flag)
  return named.filter((flag) => !flags.has(flag)).map((flag) => `${code}: no flag ${flag}`)
}

const product = 'packages/cofferdam/src'
const sources = readdirSync(join(root, product), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => read(`${product}/${file}`))
  .join('\n')
