/** Ids as people write them, `0-3, 7, 9-10`, in order and each once; of more than so many parts the rest is counted. */
export function idRanges(ids: readonly number[], mostParts = 8): string {
  const sorted = [...new Set(ids)].sort((a, b) => a - b)
  const parts: { first: number; last: number }[] = []
  for (const id of sorted) {
    const current = parts.at(-1)
    if (current !== undefined && id === current.last + 1) current.last = id
    else parts.push({ first: id, last: id })
  }
  const shown = parts.slice(0, mostParts)
  const named = shown.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  const more = sorted.length - named
  return `${shown.map(rangeText).join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}

function rangeText({ first, last }: { readonly first: number; readonly last: number }): string {
  if (first === last) return `${first}`
  return last === first + 1 ? `${first}, ${last}` : `${first}-${last}`
}
