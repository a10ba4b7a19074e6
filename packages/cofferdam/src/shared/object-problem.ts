import type { Reason } from './reasons.ts'

export interface ObjectProblem {
  /** `deployment/rook-ceph-osd-3`, `node/node-a`, `pool/.mgr` */
  readonly object: string
  readonly problem: string
  /** The word under which it is reported, where it has one of its own. */
  readonly reason?: Reason
}
