import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { Blame } from '../oracle/blame.ts'
import type { Excuses } from '../oracle/excuses.ts'
import type { WriteOracle } from '../oracle/watch-writes.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { ClusterShape } from '../story.ts'

/** What a deed is given: the cluster, what the oracle must know of it, and chance that is its own. */
export interface DeedPorts {
  readonly stage: Stage
  readonly excuses: Excuses
  readonly writes: WriteOracle
  readonly random: Random
  readonly number: number
  readonly blame: Blame['blame']
  readonly tell: (line: string) => void
  /** Where an admin has set noout by hand. */
  readonly handSet: Set<string>
  /** The same where it is not known whose the flag is. */
  readonly contested: Set<string>
  /** At the end of the busy time all of these are called: whatever somebody left broken is set right. */
  readonly atHome: (mend: () => unknown) => void
  /** Nothing more may be broken from then on, though some of what was broken takes its time to be set right. */
  readonly isHome: () => boolean
}

/** A kind of work or of fault. */
export interface DeedKind {
  readonly fits: (shape: ClusterShape) => boolean
  readonly apply: (ports: DeedPorts) => unknown
}

/** A kind of fault, and which row of the fault table it belongs to. */
export interface FaultKind extends DeedKind {
  readonly row: string
}

export const always = () => true
export const withCeph = ({ osds }: ClusterShape) => osds.length > 0
export const withLonghorn = ({ volumes }: ClusterShape) => volumes.length > 0
