import { posix } from 'node:path'
import { lexer, type Token, type Tokens, type TokensList } from 'marked'
import type { SourcePage } from '../pages/source-page.ts'
import { createAnchorNames } from './anchor-names.ts'
import { plainText } from './plain-text.ts'

export interface Heading {
  readonly depth: number
  readonly text: string
  readonly anchor: string
}

/** What a link or a picture leads to, if that is in the repository. */
export interface Target {
  /** As it is written. */
  readonly href: string
  /** From the root of the repository. The page itself for `#anchor`. */
  readonly file: string
  readonly anchor: string
}

export interface ParsedPage {
  readonly file: string
  readonly title: string
  readonly headings: readonly Heading[]
  readonly links: readonly Target[]
  readonly pictures: readonly Target[]
  readonly tokens: TokensList
}

export function parsePage({ file, markdown }: SourcePage): ParsedPage {
  const tokens = lexer(markdown, { gfm: true })
  const anchorOf = createAnchorNames()
  const headings = tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map(({ depth, tokens: inner }) => {
      const text = plainText(inner)
      return { depth, text, anchor: anchorOf(text) }
    })
  const links: Target[] = []
  const pictures: Target[] = []
  for (const token of tokensWithin(tokens)) {
    if (token.type !== 'link' && token.type !== 'image') continue
    const target = targetOf(file, String(token['href']))
    if (target !== undefined) (token.type === 'link' ? links : pictures).push(target)
  }
  return { file, title: headings.find(({ depth }) => depth === 1)?.text ?? file, headings, links, pictures, tokens }
}

/** Undefined for what is not in the repository. */
export function targetOf(from: string, href: string): Target | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return undefined
  const [path = '', anchor = ''] = href.split('#', 2)
  const file = path === '' ? from : posix.join(posix.dirname(from), decodeURIComponent(path)).replace(/\/$/, '')
  return { href, file, anchor }
}

function tokensWithin(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => [token, ...childrenOf(token).flatMap((children) => tokensWithin(children))])
}

function childrenOf(token: Token): readonly (readonly Token[])[] {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [...header, ...rows.flat()].map(({ tokens }) => tokens)
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens }) => tokens)
  return 'tokens' in token && token.tokens !== undefined ? [token.tokens] : []
}
