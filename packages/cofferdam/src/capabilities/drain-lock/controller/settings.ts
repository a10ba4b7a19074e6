import type { DrainLockSettings } from '../domain/snapshot.ts'

export const defaultDrainLockSettings: DrainLockSettings = {
  mode: 'reserve',
  minTolerationMs: 15 * 60_000,
  fallbackAfterMs: 30 * 60_000,
  reservationMs: 10 * 60_000,
  settleMs: 75_000,
  renewMs: 20_000,
}
