/** A part of a page below one heading, as the search knows it. */
export interface Section {
  readonly page: string
  readonly heading: string
  /** From the root of the site. */
  readonly address: string
  readonly text: string
}

export interface Match {
  readonly section: Section
  /** The words around the first place, or the beginning. */
  readonly excerpt: string
}

/** Sections that have every word of the query, the best first: a word in a title counts more than one in the text. */
export function matchSections(sections: readonly Section[], query: string, limit: number): Match[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return []
  return sections
    .map((section) => ({ section, weight: weightOf(section, words) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, limit)
    .map(({ section }) => ({ section, excerpt: excerptOf(section.text, words) }))
}

function weightOf({ page, heading, text }: Section, words: readonly string[]): number {
  const [title, own, rest] = [page.toLowerCase(), heading.toLowerCase(), text.toLowerCase()]
  const weights = words.map((word) => {
    const inText = Math.min(rest.split(word).length - 1, 5)
    return (own.includes(word) ? 20 : 0) + (title.includes(word) ? 10 : 0) + inText
  })
  return weights.includes(0) ? 0 : weights.reduce((sum, weight) => sum + weight, 0)
}

const excerptLength = 140

/** Begins with a whole word, a few before the first that was found. */
function excerptOf(text: string, words: readonly string[]): string {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0)
  const before = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - 40)
  const from = before === 0 ? 0 : text.indexOf(' ', before) + 1
  const excerpt = text.slice(from, from + excerptLength).trim()
  return `${from > 0 ? '…' : ''}${excerpt}${from + excerptLength < text.length ? '…' : ''}`
}
