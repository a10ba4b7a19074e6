import type { Lease } from '../api/core.ts'

/** One simulated machine. */
export interface Machine {
  readonly name: string
  bootID: string
  power: 'on' | 'off' | 'disconnected'
  isReady: boolean
  notReadyBecause: string
  lease: Lease | undefined
  cancelLease: (() => void) | undefined
  postedAt: number
}
