export interface UnreadableObject {
  /** `replica/vol-1-r-a`, `volume/vol-1`, `instancemanager/instance-manager-1`, `node/n1` (Longhorn's), … */
  readonly object: string
  readonly why: string
  /** The node whose answer depends on it; that node's budgets are kept, and no other's. */
  readonly node?: string
}

/** One object as it was read: a view of it, or why there is none. */
export type Parsed<T> = { readonly view: T } | { readonly unreadable: UnreadableObject }
