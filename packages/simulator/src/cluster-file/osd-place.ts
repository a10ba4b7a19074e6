export interface OsdPlace {
  readonly id: number
  readonly node: string
  /** Names of the CRUSH buckets it is in, by type. */
  readonly location: { readonly root: string; readonly zone: string; readonly rack?: string; readonly host: string }
}
