import type { Text } from './texts-of-source.ts'

/** A document or manifest as its readers see it, one text per paragraph. Names of fields, reasons and files in backquotes are no prose. */
export function textsOfDocument(document: string): Text[] {
  const prose = document.replace(/(?<!`)`[^`\n]+`(?!`)/g, '``').replace(/\]\([^)\s]*\)/g, ']')
  const texts: Text[] = []
  let line = 1
  for (const paragraph of prose.split(/\n(?=\s*(?:\n|[-|#*]|\d+\.\s))/)) {
    const says = paragraph.replace(/\s+/g, ' ').trim()
    if (says !== '') texts.push({ line: line + (/^\s*\n/.exec(paragraph)?.[0].split('\n').length ?? 1) - 1, says })
    line += paragraph.split('\n').length
  }
  return texts
}
