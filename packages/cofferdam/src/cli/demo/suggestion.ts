export interface Suggestion {
  readonly says: string
  readonly lines: readonly string[]
}

/** What suggestions depend on beside the objects they are about. */
export interface Choice {
  /** Whether a drain of the node can end. */
  readonly isFree: (node: string) => boolean
  /** How this program is called. */
  readonly calledAs: string
}
