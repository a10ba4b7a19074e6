import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Option } from 'commander'
import type { BudgetCover } from '../../shared/budget-cover.ts'
import type { HandOverDirection, HandOverPlan } from '../../shared/hand-over.ts'
import type { Example } from '../command.ts'
import type { HandOverResult } from './hand-over-result.ts'

/** Something that is handed over to Cofferdam and back. */
export interface HandOverKind {
  /** How one is named, with a word in capitals for each name: `cephcluster/NAMESPACE/NAME`. */
  readonly form: string
  /** The command that lists those there are. */
  readonly listedBy: string
  readonly commands: Readonly<Record<HandOverDirection, HandOverWords>>
  /**
   * Reads what was asked for.
   *
   * @throws CofferdamError USAGE
   */
  prepare(asked: AskedHandOver): (ports: HandOverPorts) => HandOver
}

/** What the command offers for this kind. */
export interface HandOverWords {
  readonly description: string
  readonly examples: readonly Example[]
  /** Flags that no other kind takes. */
  readonly options: readonly Option[]
}

export interface AskedHandOver {
  readonly direction: HandOverDirection
  /** One for each word in capitals of the form. */
  readonly names: readonly string[]
  readonly flags: Readonly<Record<string, unknown>>
}

export interface HandOverPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly leaseNamespace: string
}

/** One hand-over that is under way. */
export interface HandOver extends Pick<HandOverResult, 'object' | 'to'> {
  /** What it is once it is done: `the budgets are handed over to Rook.` */
  readonly doneText: string
  /** The command line that goes on with it, without the name of the program. */
  readonly again: string
  /** The command that shows how it is. */
  readonly shownBy: string
  /** The namespace of the budgets, and of all pods under them. */
  readonly namespace: string
  /** The field of a moment without protection that names them. */
  readonly protects: 'osds' | 'instanceManagers'
  /** The same in words. */
  readonly protectsText: string
  /** Budgets are meant to go. */
  readonly isUnprotectedOnPurpose: boolean
  /** Reads what is there now, and decides. */
  plan(): Promise<HandOverPlan>
  write(patch: JsonObject): Promise<void>
  /** Judges the budgets of one moment by what was covered in the one before. */
  judge(
    before: ReadonlySet<string>,
    budgets: Iterable<PodDisruptionBudget>,
    signal: AbortSignal,
  ): Promise<Omit<BudgetCover, 'uncovered'>>
}
