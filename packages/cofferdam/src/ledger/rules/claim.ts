import { groupedBy } from '../../shared/grouped-by.ts'

/** What one request needs for itself: `node/NAME`, `pdb/NAMESPACE/NAME`, `storage/NAMESPACE/CLUSTER`, `limit/NAME`. */
export interface Claim {
  readonly key: string
  /** Uid of the object behind the ledger key. */
  readonly uid: string
  /** Claims of one key with the same scope go together: the failure domain of a storage key. '' shares with nobody. */
  readonly scope: string
  /** Of a limit: how many requests may hold it at once. */
  readonly most?: number
}

/** What of a claim is kept while its request waits. */
export type Wanted = Pick<Claim, 'key' | 'scope'>

const limitPrefix = 'limit/'

export function limitKey(name: string): string {
  return `${limitPrefix}${name}`
}

/** Limits are held by several requests at once, and counted. */
export function isLimit({ key }: Pick<Claim, 'key'>): boolean {
  return key.startsWith(limitPrefix)
}

/** Whether the two can never be held side by side. */
export function doClaimsConflict(a: Wanted, b: Wanted): boolean {
  return a.key === b.key && (a.scope === '' || a.scope !== b.scope) && !isLimit(a)
}

export function doAnyConflict(some: readonly Wanted[], others: readonly Wanted[]): boolean {
  return some.some(conflictsWith(others))
}

const fewClaims = 8

/** Whether something conflicts with one of these claims. Asked often of many, so not one by one where there are many. */
export function conflictsWith(claims: readonly Wanted[]): (wanted: Wanted) => boolean {
  if (claims.length <= fewClaims) return (wanted) => claims.some((claim) => doClaimsConflict(wanted, claim))
  const byKey = groupedBy(claims, ({ key }) => key)
  return (wanted) => byKey.get(wanted.key)?.some((claim) => doClaimsConflict(wanted, claim)) === true
}

export function isSameClaim(a: Claim, b: Claim): boolean {
  return a.key === b.key && a.uid === b.uid && a.scope === b.scope
}

/** Two claims of one key by the same request are one; in two scopes they share with nobody. */
export function onePerKey(claims: readonly Claim[]): readonly Claim[] {
  const hasTwice = claims.some(({ key }, index) => claims.findIndex((other) => other.key === key) !== index)
  if (!hasTwice) return claims
  const byKey = new Map<string, Claim>()
  for (const claim of claims) {
    const before = byKey.get(claim.key)
    byKey.set(claim.key, before === undefined || before.scope === claim.scope ? claim : { ...claim, scope: '' })
  }
  return [...byKey.values()]
}
