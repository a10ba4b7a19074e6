import { Marked, type Tokens } from 'marked'
import { type ParsedPage, targetOf } from '../markdown/parse-page.ts'
import { escapeHtml } from './escape-html.ts'

/** Returns where a link of the repository leads on the site. */
export type Resolve = (target: { readonly file: string; readonly anchor: string }) => string

/** The text of a page. HTML in Markdown is shown, not obeyed: no document needs it. */
export function renderBody(page: ParsedPage, resolve: Resolve): string {
  const anchors = page.headings.map(({ anchor }) => anchor)
  const address = (href: string) => {
    const target = targetOf(page.file, href)
    return target === undefined ? href : resolve(target)
  }
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ depth, tokens }) {
        const text = this.parser.parseInline(tokens)
        const anchor = escapeHtml(anchors.shift() ?? '')
        return depth === 1
          ? `<h1 id="${anchor}">${text}</h1>\n`
          : `<h${depth} id="${anchor}">${text} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(address(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(address(href))}" alt="${escapeHtml(text)}">`
      },
      code({ text, lang = '' }) {
        return renderCode(text, lang)
      },
      table(table) {
        return renderTable(table, (cell) => this.parser.parseInline(cell.tokens))
      },
      html({ text }) {
        return escapeHtml(text)
      },
    },
  })
  return marked.parser(page.tokens)
}

/** Can be reached by keyboard, as it may be wider than the screen. */
export function renderCode(text: string, language: string): string {
  const lines =
    language === 'sh' || language === 'bash' ? text.split('\n').map(withComment).join('\n') : escapeHtml(text)
  return `<pre tabindex="0" data-language="${escapeHtml(language)}"><code>${lines}</code></pre>\n`
}

function withComment(line: string): string {
  const found = /(^|\s+)#\s.*$/.exec(line)
  if (found === null) return escapeHtml(line)
  return `${escapeHtml(line.slice(0, found.index))}<span class="comment">${escapeHtml(found[0])}</span>`
}

function renderTable(table: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  // A heading without words is none.
  const cellOf = (cell: Tokens.TableCell, tag: 'td' | 'th') => {
    const name = cell.text.trim() === '' ? 'td' : tag
    return `<${name}>${inline(cell)}</${name}>`
  }
  const row = (cells: readonly Tokens.TableCell[], tag: 'td' | 'th') =>
    `<tr>${cells.map((cell) => cellOf(cell, tag)).join('')}</tr>`
  const hasNames = table.header.some(({ text }) => text.trim() !== '')
  const head = hasNames ? `<thead>${row(table.header, 'th')}</thead>` : ''
  const body = table.rows.map((cells) => row(cells, 'td')).join('\n')
  return `<div class="table" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`
}
