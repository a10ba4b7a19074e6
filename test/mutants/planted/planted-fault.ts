/** A fault that somebody could write, with what it would do to a cluster. One expression is another; statements become `undefined`. */
export interface PlantedFault {
  /** From the sources of the product. */
  readonly file: string
  /** Stands there once. */
  readonly was: string
  readonly becomes: string
  readonly harm: string
}
