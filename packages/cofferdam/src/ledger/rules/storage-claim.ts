import type { Claim } from './claim.ts'

/** What a decision wants of the ledger. Where a decision says nothing of it, whatever is held stays held. */
export type StorageClaim =
  /** To be held before anything is opened. */
  | { readonly wants: 'hold'; readonly requestId: string; readonly holder: string; readonly claim: Claim }
  /** To be released after everything is held as it was before. */
  | { readonly wants: 'release' }
