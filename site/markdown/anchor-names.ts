/** Names headings as the forges do, so that one link works there and on the site: the second of the same name ends in -1. */
export function createAnchorNames(): (heading: string) => string {
  const seen = new Map<string, number>()
  return (heading) => {
    const name = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-')
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return before === 0 ? name : `${name}-${before}`
  }
}
