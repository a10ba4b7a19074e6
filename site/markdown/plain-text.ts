import type { Token } from 'marked'

/** What a reader sees of a text, without its marks. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens !== undefined
        ? plainText(token.tokens)
        : String('text' in token ? token.text : ''),
    )
    .join('')
}
