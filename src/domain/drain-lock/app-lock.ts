/** A lock that the owner of an application put on a budget: annotation `cofferdam.io/lock`. */
export interface AppLock {
  readonly holder: string
  readonly reason: string
  /** As it counts: never later than policy allows. */
  readonly untilMs: number
}
