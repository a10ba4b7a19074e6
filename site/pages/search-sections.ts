import type { Token, Tokens } from 'marked'
import type { Section } from '../browser/match-sections.ts'
import type { ParsedPage } from '../markdown/parse-page.ts'
import { plainText } from '../markdown/plain-text.ts'
import { addressOf } from './address-of.ts'

/** One section for each heading of a page, with the text below it. */
export function searchSections({ file, title, headings, tokens }: ParsedPage): Section[] {
  const address = addressOf(file)
  const texts: string[][] = []
  for (const token of tokens) {
    if (token.type === 'heading') texts.push([])
    else texts.at(-1)?.push(textOf(token))
  }
  return headings.map(({ text, anchor, depth }, index) => ({
    page: title,
    heading: text,
    address: depth === 1 ? address : `${address}#${anchor}`,
    text: (texts[index] ?? []).join(' ').replace(/\s+/g, ' ').trim(),
  }))
}

function textOf(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [...header, ...rows.flat()].map(({ tokens }) => plainText(tokens)).join(' ')
  }
  if (token.type === 'list') {
    return (token as Tokens.List).items.map(({ tokens }) => tokens.map(textOf).join(' ')).join(' ')
  }
  return plainText([token])
}
