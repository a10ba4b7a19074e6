import type { Lease } from '@cofferdam/kubernetes/api/core.ts'

/** One simulated machine. */
export interface Machine {
  readonly name: string
  bootID: string
  power: 'on' | 'off' | 'disconnected'
  /** The node's own annotation turned it off, so taking the annotation away turns it on. */
  isOffByWish: boolean
  isReady: boolean
  notReadyBecause: string
  lease: Lease | undefined
  cancelLease: (() => void) | undefined
  postedAt: number
}
