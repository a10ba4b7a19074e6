import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { SelectingDeployment } from './budget-object.ts'
import type { LonghornObjects } from './parse-longhorn.ts'
import type { OwnWrites } from './reverted-writes.ts'
import type { LonghornSnapshot } from './snapshot.ts'

/** Longhorn is in several namespaces: why nothing is decided, and the settings of all of them. */
export interface SeveralLonghorns {
  readonly problem: string
  readonly settings: readonly LonghornSetting[]
}

/** What one pass over all of Longhorn is decided on. */
export interface LonghornPassSnapshot {
  /** As the watches show it. */
  readonly objects: LonghornObjects
  readonly snapshot: LonghornSnapshot
  /** Deployments of Longhorn's namespace; undefined where they may not be read. */
  readonly deployments: readonly SelectingDeployment[] | undefined
  /** What was written before, and should stand. */
  readonly written: OwnWrites
  /** What the API server listed in this pass; undefined: it was not asked. */
  readonly afresh: Observed<SeenAfresh> | undefined
  /** Names of the budgets that this pass has tried to create. One that is still missing was refused. */
  readonly attempted: ReadonlySet<string>
}

export interface SeenAfresh {
  readonly objects: LonghornObjects
  readonly snapshot: LonghornSnapshot
}
