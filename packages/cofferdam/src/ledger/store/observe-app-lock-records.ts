import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import type { AppLockRecord } from '../rules/app-lock-record.ts'
import { parseLedger } from '../rules/parse-ledger.ts'

/** Since when owners have kept budgets locked, as far as the user may read it. */
export async function observeAppLockRecords({
  api,
  signal,
}: {
  readonly api: Pick<KubeApi, 'get'>
  readonly signal: AbortSignal
}): Promise<readonly AppLockRecord[]> {
  try {
    const ledger = parseLedger(await api.get(disruptionLedgers, { name: ledgerName }, { signal }))
    return ledger.known ? ledger.value.appLocks : []
  } catch (error) {
    if (hasReason(error, 'NotFound', 'Forbidden')) return []
    throw error
  }
}
