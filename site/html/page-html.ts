import type { Heading } from '../markdown/parse-page.ts'
import { addressOf, relativeAddress } from '../pages/address-of.ts'
import type { NavigationSection } from '../pages/navigation.ts'
import { escapeHtml } from './escape-html.ts'

export interface PageContent {
  readonly address: string
  readonly title: string
  readonly body: string
  readonly headings: readonly Heading[]
  /** The file that it was made from. */
  readonly file: string
}

const motto = 'Drain, reboot, fence, upgrade and remove Kubernetes nodes while the data on them stays safe.'

export function pageHtml(page: PageContent, navigation: readonly NavigationSection[]): string {
  const here = (to: string) => escapeHtml(relativeAddress(page.address, to))
  const root = '../'.repeat(page.address.split('/').length - 1)
  const isStart = page.address === 'index.html'
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(isStart ? 'Cofferdam' : `${page.title} · Cofferdam`)}</title>
<meta name="description" content="${motto}">
<link rel="icon" href="${here('favicon.svg')}">
<link rel="stylesheet" href="${here('style.css')}">
<script src="${here('search.js')}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<button type="button" popovertarget="menu">Pages</button>
<a class="brand" href="${here('index.html')}"><img src="${here('favicon.svg')}" alt="" width="26" height="26">Cofferdam</a>
<form id="search" role="search" hidden>
<input type="search" placeholder="Search" aria-label="Search all pages" autocomplete="off" aria-keyshortcuts="/">
<span id="result-count" role="status"></span>
<ol id="results" hidden></ol>
</form>
</header>
<div class="columns">
<nav id="menu" popover aria-label="All pages">
${navigation.map((section) => renderSection(section, page)).join('\n')}
</nav>
<main id="content" tabindex="-1">
${page.body}<footer>Made from <code>${escapeHtml(page.file)}</code>. Apache-2.0.</footer>
</main>
${isStart ? '' : renderContents(page.headings)}
</div>
</body>
</html>
`
}

function renderSection({ title, pages }: NavigationSection, page: PageContent): string {
  const entries = pages.map(({ file, title: name }) => {
    const isHere = file === page.file ? ' aria-current="page"' : ''
    return `<li><a href="${escapeHtml(relativeAddress(page.address, addressOf(file)))}"${isHere}>${escapeHtml(name)}</a></li>`
  })
  // On a phone or a desk alike, a reader opens what they search for; the section of this page is open.
  const isOpen = title === 'Guides' || pages.some(({ file }) => file === page.file) ? ' open' : ''
  return `<details${isOpen}><summary>${escapeHtml(title)}</summary><ul>${entries.join('')}</ul></details>`
}

function renderContents(headings: readonly Heading[]): string {
  const parts = headings.filter(({ depth }) => depth === 2)
  if (parts.length < 2) return ''
  const entries = parts.map(({ anchor, text }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>`)
  return `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${entries.join('')}</ul></nav>`
}
