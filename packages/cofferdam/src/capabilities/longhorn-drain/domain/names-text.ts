const shown = 3

/** The first of them, in order, and how many more there are. */
export function namesText(names: readonly string[]): string {
  const more = names.length - shown
  const first = [...names].sort().slice(0, shown).join(', ')
  return more > 0 ? `${first} and ${more} more` : first
}
