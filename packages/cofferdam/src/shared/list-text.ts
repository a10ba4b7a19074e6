const shownAtMost = 5

/** The first few names, and how many more there are. */
export function listText(names: readonly string[]): string {
  const more = names.length - shownAtMost
  return more <= 0 ? names.join(', ') : `${names.slice(0, shownAtMost).join(', ')} and ${more} more`
}
