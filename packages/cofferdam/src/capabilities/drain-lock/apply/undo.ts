import { evictionRequests } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { nodeOf, parseBudgetKey } from '../../../ledger/rules/keys.ts'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { Permission } from '../../../shared/permission.ts'
import { unlockBudget } from './budgets.ts'
import { uncordonNode } from './cordon.ts'
import { withdrawAll } from './responders.ts'

/** What is needed besides reading the ledger keys. */
export const undoDisruptionPermissions: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['patch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['patch'] },
  { group: 'policy', resource: 'poddisruptionbudgets/status', verbs: ['update'] },
  { group: evictionRequests.group, resource: evictionRequests.plural, verbs: ['list', 'patch'] },
]

/** Takes away what a request that is gone left behind: our cordon on its node, our holds on its budgets, and what it asked of responders. */
export async function undoDisruption(
  {
    api,
    clock,
  }: { readonly api: Pick<KubeApi, 'get' | 'list' | 'update' | 'patch'>; readonly clock: Pick<Clock, 'now'> },
  entries: readonly LedgerEntry[],
  signal: AbortSignal,
): Promise<void> {
  for (const { key, uid, requestId, epoch } of entries) {
    const nodeName = nodeOf(key)
    if (nodeName !== undefined) {
      await withdrawAll(api, requestId, signal)
      await uncordonNode(api, { nodeName, nodeUid: uid, requestId }, signal)
    }
    const budget = parseBudgetKey(key)
    if (budget === undefined) continue
    await unlockBudget(api, { budget: { ...budget, uid }, requestId, epoch, nowMs: clock.now() }, signal)
  }
}
