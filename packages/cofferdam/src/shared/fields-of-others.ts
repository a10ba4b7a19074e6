/**
 * What a record has beside the fields that are known here: another version of Cofferdam noted it. Who writes the record keeps it, for during an
 * upgrade both versions write, and after a rollback the other may be back.
 */
export function fieldsOfOthers(
  record: object | undefined,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (record === undefined) return {}
  return Object.fromEntries(Object.entries(record).filter(([field]) => !known.includes(field)))
}
