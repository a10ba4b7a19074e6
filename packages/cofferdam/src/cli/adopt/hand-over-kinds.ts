import { cephClusterHandOver } from './ceph-cluster.ts'
import type { HandOverKind } from './hand-over-kind.ts'
import { longhornHandOver } from './longhorn.ts'

/** Everything that can be handed over, in the order in which help names it. */
export const handOverKinds: readonly HandOverKind[] = [cephClusterHandOver, longhornHandOver]
