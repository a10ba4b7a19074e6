export interface ObjectProblem {
  /** `deployment/rook-ceph-osd-3`, `node/node-a`, `pool/.mgr` */
  readonly object: string
  readonly problem: string
}
