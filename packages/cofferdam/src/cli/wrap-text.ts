import { stripVTControlCharacters } from 'node:util'

/** Lines of at most so many columns, broken at spaces; a word that is longer stays whole, so that it can be copied. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && stripVTControlCharacters(longer).length > width) {
      lines.push(line)
      line = word
    } else {
      line = longer
    }
  }
  return [...lines, line]
}
