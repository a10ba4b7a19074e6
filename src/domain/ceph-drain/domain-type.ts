/** CRUSH types that a budget can stand for, from the narrowest to the widest. */
export const failureDomainTypes = [
  'host',
  'chassis',
  'rack',
  'row',
  'pdu',
  'pod',
  'room',
  'datacenter',
  'zone',
  'region',
] as const

/**
 * The type whose members the budgets keep apart: the override, or the narrowest that a pool's rule enforces.
 *
 * OSDs carry no label for the type `osd`, so a rule that spreads over single OSDs counts as `host`, and so does a type
 * that nobody knows: the narrowest kind of domain that can be told by labels.
 */
export function domainTypeInUse(
  override: string | undefined,
  enforced: readonly string[] | string | undefined,
): string {
  if (override !== undefined) return override
  const named = typeof enforced === 'string' ? [enforced] : (enforced ?? [])
  return failureDomainTypes.find((type) => named.includes(type)) ?? 'host'
}

/** A CRUSH bucket's name as it stands in a label. */
export function labelOfBucket(bucket: string): string {
  return bucket.replaceAll('.', '-')
}
