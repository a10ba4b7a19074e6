import { crushTypes } from './crush-types.ts'

/** CRUSH types that a budget can stand for, from the narrowest to the widest. */
export const failureDomainTypes = crushTypes.slice(crushTypes.indexOf('host'), crushTypes.indexOf('root'))

/**
 * The type whose members the budgets keep apart: the override, what Ceph's rules were judged to enforce, or the narrowest of
 * several. Where nothing usable is said it is `host`, the narrowest that labels can show.
 */
export function domainTypeInUse(
  override: string | undefined,
  enforced: string | readonly string[] | undefined,
): string {
  if (override !== undefined) return override
  if (typeof enforced === 'string') return enforced
  return failureDomainTypes.find((type) => enforced?.includes(type) === true) ?? 'host'
}

/** A CRUSH bucket's name as it stands in a label. */
export function labelOfBucket(bucket: string): string {
  return bucket.replaceAll('.', '-')
}
