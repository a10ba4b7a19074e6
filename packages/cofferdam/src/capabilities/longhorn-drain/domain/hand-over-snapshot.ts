import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { HandOverDirection } from '../../../shared/hand-over.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { LonghornDecision } from './decision.ts'
import type { GuidanceDecision } from './guidance-decision.ts'
import type { LonghornObjects } from './parse-longhorn.ts'
import { drainPolicySetting } from './policy.ts'
import type { DrainPolicy, LonghornDrainSettings, LonghornSnapshot } from './snapshot.ts'

/** Everything that a hand-over of Longhorn's drains, to Cofferdam or back, is decided on. */
export interface LonghornHandOverSnapshot {
  readonly direction: HandOverDirection
  readonly namespace: string
  /** Unknown where a kind may not be read without which nothing can be said of any node; undefined where it is not in this namespace. */
  readonly longhorn: Observed<LonghornObjects> | undefined
  /** Namespaces with a Longhorn, as the operator finds them. */
  readonly places: readonly string[]
  /** Undefined where that may not be read. */
  readonly isOperatorRunning: boolean | undefined
  /** Whether evictions are asked of the eviction guard; undefined where that may not be read. */
  readonly isGuarded: boolean | undefined
  /** Rights that the operator needs and does not have. */
  readonly missingRights: Observed<readonly string[]>
  /** Of the DaemonSet of Longhorn's manager, each once. */
  readonly managerImages: readonly string[]
  readonly wants: LonghornHandOverWish
}

/** Of no use where drains are released. */
export interface LonghornHandOverWish {
  readonly mode?: LonghornDrainSettings['mode']
  readonly policy?: DrainPolicy
  readonly trigger?: LonghornDrainSettings['trigger']
}

/** One state of Longhorn, and what is decided about it. */
export interface DecidedLonghorn {
  readonly objects: LonghornObjects
  readonly snapshot: LonghornSnapshot
  readonly decision: LonghornDecision
  readonly guidance: GuidanceDecision
}

/** Longhorn as it is, as it is once the setting says what is asked for, and once the operator has done what follows from that. */
export interface HandOverStates {
  readonly now: DecidedLonghorn
  readonly asked: DecidedLonghorn
  readonly settled: DecidedLonghorn
}

export function settingOf({ settings }: Pick<LonghornObjects, 'settings'>): LonghornSetting | undefined {
  return settings.find(({ metadata }) => metadata.name === drainPolicySetting)
}
