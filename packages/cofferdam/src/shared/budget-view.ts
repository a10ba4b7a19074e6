import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { type AnnotatedBudget, lockWritten } from './app-lock-annotation.ts'
import { isExchangedBudget } from './exchanged-budget.ts'
import type { BudgetReference } from './object-references.ts'
import { mayFollowStorage } from './storage-budget-names.ts'

/** What is kept of a budget, whoever reads it. */
export interface BudgetView extends BudgetReference, Pick<AnnotatedBudget, 'lockWrittenMs'> {
  /** Whether its status answers for its present spec. */
  readonly isCounted: boolean
  readonly disruptionsAllowed: number
  /** Put up and taken down while a failure domain of a Ceph cluster is away. */
  readonly isExchanged: boolean
  /** Allows no disruption, and may be one of those that follow the health of storage. */
  readonly mayHoldStorage: boolean
  /** Uid of its controller; empty where it has none. */
  readonly ownerUid: string
  /** Absent: it covers no pod. */
  readonly selector: LabelSelector | undefined
  /** Only Cofferdam's annotations. */
  readonly annotations: Readonly<Record<string, string>>
}

export function parseBudgetView(budget: PodDisruptionBudget): BudgetView {
  const { metadata, spec, status } = budget
  const { name, namespace = '', uid = '', annotations = {} } = metadata
  const view: BudgetView = {
    namespace,
    name,
    uid,
    isCounted: status !== undefined && (status.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    disruptionsAllowed: status?.disruptionsAllowed ?? 0,
    selector: spec.selector ?? undefined,
    isExchanged: isExchangedBudget({ metadata }),
    mayHoldStorage: mayFollowStorage(budget) && (status?.disruptionsAllowed ?? 0) === 0,
    ownerUid: metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? '',
    annotations: ownAnnotations(annotations),
  }
  const { lockWrittenMs } = lockWritten(budget)
  return lockWrittenMs === undefined ? view : { ...view, lockWrittenMs }
}

/** The same for all of the many budgets that have none. */
const none: Readonly<Record<string, string>> = {}

function ownAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const own = Object.entries(annotations).filter(([key]) => key.startsWith('cofferdam.io/'))
  return own.length === 0 ? none : Object.fromEntries(own)
}
