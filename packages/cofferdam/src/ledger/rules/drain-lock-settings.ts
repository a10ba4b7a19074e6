export interface DrainLockSettings {
  /**
   * `reserve`: take the disruption from the budget's status, as the eviction API does. `spec`: lower the budget itself while it is
   * locked. `settle`: lock by annotation and guard, and wait until no eviction from before can be under way any more.
   */
  readonly mode: 'reserve' | 'spec' | 'settle'
  /** How long a pod that stays must tolerate its node being away. Default 900 s. */
  readonly minTolerationMs: number
  /** For requests that do not say: 30 minutes. */
  readonly fallbackAfterMs: number
  /** How long a node may be away for its reboot before remediators may take it, for requests that do not say: one hour. */
  readonly plannedOutageMs: number
  /** How far ahead a reservation is dated; it is renewed at half of it. Default 10 minutes. */
  readonly reservationMs: number
  /** Longer than any request to the API server takes. Default 75 s. */
  readonly settleMs: number
  /** How often a holder shows that it lives. Default 20 s; silent for three times as long, it counts as gone. */
  readonly renewMs: number
}

export const defaultDrainLockSettings: DrainLockSettings = {
  mode: 'reserve',
  minTolerationMs: 15 * 60_000,
  fallbackAfterMs: 30 * 60_000,
  plannedOutageMs: 60 * 60_000,
  reservationMs: 10 * 60_000,
  settleMs: 75_000,
  renewMs: 20_000,
}
