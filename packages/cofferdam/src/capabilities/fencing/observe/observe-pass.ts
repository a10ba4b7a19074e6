import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { FencingMemory } from '../apply/apply.ts'
import type { FencingWrites } from '../apply/writes.ts'
import type { WrittenBudgets } from '../apply/written-budgets.ts'
import type { RemediatorListeners } from '../controller/listeners.ts'
import type { FencingDecision } from '../domain/decision.ts'
import type { FencingPassSnapshot } from '../domain/pass-snapshot.ts'
import {
  areLeasesExpected,
  type FencingObservePorts,
  type FencingViews,
  observeFencing,
  unreadViews,
} from './observe.ts'

interface FencingPassParts {
  readonly memory: FencingMemory
  readonly writes: Pick<FencingWrites, 'budgets'>
  readonly written: Pick<WrittenBudgets, 'isForeign'>
  readonly listeners: Pick<RemediatorListeners, 'check'>
}

/** Everything as the watches show it, with what this pass has written and learned. */
export function observePass(
  ports: FencingObservePorts,
  { memory, writes, written, listeners }: FencingPassParts,
): FencingPassSnapshot {
  const budgets = writes.budgets()
  const unread = unreadViews(ports.views)
  if (unread.length > 0) return { state: 'blind', unread, budgets }
  const { snapshot: seen, objects } = observeFencing(ports, memory.fresh)
  memory.snapshot = seen
  memory.foreign ??= budgets
    .filter((budget) => written.isForeign(budget))
    .map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
  const { problems, recheckAfterSeconds } = listeners.check(seen, objects)
  return {
    state: 'seen',
    seen,
    budgets,
    foreign: memory.foreign,
    unlabelled: new Set(memory.unlabelled),
    isFresh: memory.fresh !== undefined,
    announced: memory.announced,
    unheld: memory.unheld,
    heard: { problems: [...leaseProblems(ports.views), ...problems], recheckAfterSeconds },
  }
}

function leaseProblems(views: FencingViews): FencingDecision['problems'] {
  if (!areLeasesExpected(views) || views.leases.synced) return []
  const problem =
    'its Leases cannot be read, so NodeHealthChecks are paused instead: kubectl apply -k deploy/medik8s/rights'
  return [{ object: `namespace/${medik8sLeaseNamespace}`, problem }]
}
