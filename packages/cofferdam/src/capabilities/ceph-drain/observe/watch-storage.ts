import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import type { CephTrust } from '../../../shared/ceph-trust/named-clusters.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { viewRecordedStorage } from '../view/recorded-view.ts'
import { readRecords } from './read-storage.ts'

export interface WatchStoragePorts {
  readonly api: Pick<KubeApi, 'get'>
  readonly clock: Pick<Clock, 'now'>
  readonly trust: CephTrust
  readonly attendance: (signal: AbortSignal) => Promise<Attendance>
}

/** However many ask, the records of a cluster are read once in so long. */
const freshMs = 2_000

type Read = Awaited<ReturnType<typeof readRecords>> & { readonly attendance: Attendance }

/** What is on record of the named Ceph clusters of a namespace, for whoever asks again and again. */
export function watchStorage({ api, clock, trust, attendance }: WatchStoragePorts) {
  const reads = new Map<string, { readonly atMs: number; readonly read: Promise<Read> }>()

  function recordsIn(namespace: string, signal: AbortSignal): Promise<Read> {
    const nowMs = clock.now()
    const before = reads.get(namespace)
    if (before !== undefined && isWithin(nowMs, before.atMs, freshMs + 1)) return before.read
    const read = Promise.all([
      readRecords({ api, signal }, { metadata: { namespace, name: '' } }, []),
      attendance(signal),
    ]).then(([records, attended]) => ({ ...records, attendance: attended }))
    reads.set(namespace, { atMs: nowMs, read })
    // What failed is read again by the next.
    read.catch(() => reads.delete(namespace))
    return read
  }

  return async (
    namespace: string,
    budgets: readonly PodDisruptionBudget[],
    signal: AbortSignal,
  ): Promise<readonly StorageView[]> => {
    const names = trust.named.flatMap((key) =>
      key.startsWith(`${namespace}/`) ? [key.slice(namespace.length + 1)] : [],
    )
    if (names.length === 0) return []
    const { record, observed, attendance: attended } = await recordsIn(namespace, signal)
    return names.map((name) => {
      const cluster = { metadata: { namespace, name } }
      return viewRecordedStorage({ cluster, record, observed, budgets, attendance: attended }).view
    })
  }
}
