/** What left and what came between two lists, by identity. Long common beginnings and ends cost next to nothing. */
export function changedItems<T>(
  before: readonly T[],
  after: readonly T[],
): { readonly removed: readonly T[]; readonly added: readonly T[] } {
  if (before === after) return { removed: [], added: [] }
  if (before.length === 0 || after.length === 0) return { removed: before, added: after }
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let tail = 0
  while (tail < shorter - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1
  const old = before.slice(start, before.length - tail)
  const young = after.slice(start, after.length - tail)
  const [were, are] = [new Set(old), new Set(young)]
  return { removed: old.filter((item) => !are.has(item)), added: young.filter((item) => !were.has(item)) }
}
