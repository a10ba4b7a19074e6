import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { escapeHtml } from './html/escape-html.ts'
import { type PageContent, pageHtml } from './html/page-html.ts'
import { type Resolve, renderBody, renderCode } from './html/render-body.ts'
import { findBrokenAddresses } from './links/find-broken-addresses.ts'
import { findBrokenLinks } from './links/find-broken-links.ts'
import { type ParsedPage, parsePage } from './markdown/parse-page.ts'
import { addressOf, addressOfFolder, isPicture, relativeAddress } from './pages/address-of.ts'
import { findPages } from './pages/find-pages.ts'
import { buildNavigation } from './pages/navigation.ts'
import { searchSections } from './pages/search-sections.ts'

export interface BuiltSite {
  /** All files of the site by their address; text only where it is HTML. */
  readonly files: ReadonlyMap<string, string>
  readonly broken: readonly string[]
}

/** `script` is that of the search, which has to be bundled. */
export function buildSite(root: string, folder: string, script: string): BuiltSite {
  const pages = findPages(root).map(parsePage)
  const isThere = (path: string) => existsSync(join(root, path))
  const contents = [...pages.map(pageContent(root)), ...listedContents(root, pages)]
  const navigation = buildNavigation(pages)
  const sections = pages.flatMap(searchSections)
  const files = new Map<string, string | Buffer>([
    ...contents.map((page) => [page.address, pageHtml(page, navigation)] as const),
    ...picturesOf(pages)
      .filter(isThere)
      .map((file) => [addressOf(file), readFileSync(join(root, file))] as const),
    ['style.css', readFileSync(join(root, 'site/html/style.css'))],
    ['favicon.svg', readFileSync(join(root, 'packages/cofferdam/src/dashboard/page/favicon.svg'))],
    ['search.js', Buffer.from(script)],
    ['search-index.js', Buffer.from(`globalThis.searchIndex=${JSON.stringify(sections)}`)],
  ])
  rmSync(folder, { recursive: true, force: true })
  for (const [address, content] of files) {
    const path = join(folder, address)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  const texts = new Map([...files].map(([address, content]) => [address, typeof content === 'string' ? content : '']))
  return { files: texts, broken: [...findBrokenLinks(pages, isThere), ...findBrokenAddresses(texts)] }
}

const pageContent =
  (root: string) =>
  (page: ParsedPage): PageContent => {
    const address = addressOf(page.file)
    const resolve: Resolve = ({ file, anchor }) => {
      const to = relativeAddress(address, isFolder(root, file) ? addressOfFolder(file) : addressOf(file))
      return anchor === '' ? to : `${file === page.file ? '' : to}#${anchor}`
    }
    return { ...page, address, body: renderBody(page, resolve) }
  }

/** Pages for files that documents link to and that are no documents, and for folders. */
function listedContents(root: string, pages: readonly ParsedPage[]): PageContent[] {
  const linked = new Set(pages.flatMap(({ links }) => links.map(({ file }) => file)))
  const known = new Set(pages.map(({ file }) => file))
  const contents = new Map<string, PageContent>()
  const add = (path: string) => {
    if (known.has(path) || isPicture(path) || contents.has(path)) return
    if (!isFolder(root, path)) {
      contents.set(path, fileContent(path, readFileSync(join(root, path), 'utf8')))
      return
    }
    const inside = readdirSync(join(root, path)).map((name) => `${path}/${name}`)
    const index = inside.find((file) => file.endsWith('/README.md'))
    if (index === undefined) contents.set(path, folderContent(root, path, inside))
    for (const file of inside) add(file)
  }
  for (const path of linked) if (existsSync(join(root, path))) add(path)
  return [...contents.values()]
}

function fileContent(file: string, text: string): PageContent {
  const body = `<h1>${escapeHtml(posix.basename(file))}</h1>\n${renderCode(text.trimEnd(), posix.extname(file).slice(1))}`
  return { address: addressOf(file), title: file, body, headings: [], file }
}

function folderContent(root: string, folder: string, inside: readonly string[]): PageContent {
  const address = addressOfFolder(folder)
  const entries = inside.map((path) => {
    const to = isFolder(root, path) ? addressOfFolder(path) : addressOf(path)
    const name = path.endsWith('.md') ? titleIn(readFileSync(join(root, path), 'utf8')) : posix.basename(path)
    return `<li><a href="${escapeHtml(relativeAddress(address, to))}">${escapeHtml(name)}</a></li>`
  })
  const body = `<h1>${escapeHtml(folder)}</h1>\n<ul>${entries.join('\n')}</ul>\n`
  return { address, title: folder, body, headings: [], file: folder }
}

function titleIn(markdown: string): string {
  return parsePage({ file: '', markdown }).title
}

function picturesOf(pages: readonly ParsedPage[]): string[] {
  const targets = pages.flatMap(({ pictures, links }) => [...pictures, ...links])
  return [...new Set(targets.map(({ file }) => file).filter(isPicture))]
}

function isFolder(root: string, path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false
}
