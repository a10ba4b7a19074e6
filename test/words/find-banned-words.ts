import { bannedWords } from './banned-words.ts'
import type { UserText } from './user-texts.ts'

/** Each with the place, the words around it and what to say instead. */
export function findBannedWords(texts: readonly UserText[]): string[] {
  return texts.flatMap(({ file, line, says }) =>
    bannedWords.flatMap(({ word, sayInstead }) => {
      const found = word.exec(says)
      if (found === null) return []
      const around = says.slice(Math.max(0, found.index - 40), found.index + found[0].length + 40)
      return [`${file}:${line} "${found[0]}" in "${around}"; say: ${sayInstead}`]
    }),
  )
}
