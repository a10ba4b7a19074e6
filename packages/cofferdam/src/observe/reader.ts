import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { ListInformers } from '@cofferdam/kubernetes/informers/list-informers.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { quietLog } from '@cofferdam/kubernetes/runtime/log.ts'
import type { ReadPorts } from '../capabilities/ports.ts'
import { openCephViews } from '../ceph/views/ceph-views.ts'
import { observeSettings } from '../ledger/store/observe-settings.ts'
import { type CephTrust, trustsNone } from '../shared/ceph-trust/named-clusters.ts'
import { once } from '../shared/once.ts'
import { observeOperator } from './observe-operator.ts'
import { openSharedViews, type SharedViews } from './shared-views.ts'

export interface Question {
  readonly api: KubeApi
  readonly clock: Clock
  /** Where the operator's lease is. */
  readonly leaseNamespace: string
  readonly signal: AbortSignal
}

/** The cluster as it is listed for one question, read through the same views as the operator reads it. */
export interface Reader extends ReadPorts {
  readonly api: KubeApi
  readonly views: SharedViews
  /** When the question was asked. */
  readonly now: string
}

export async function openReader({ api, clock, leaseNamespace, signal }: Question): Promise<Reader> {
  const notSeen: string[] = []
  const now = timestamp(clock)
  const informers = new ListInformers({ api, clock, signal, notSeen })
  const settings = await observeSettings({ api, signal })
  const trust = settings.trust ?? (await everyCluster(informers))
  return {
    api,
    clock,
    signal,
    now,
    notSeen,
    informers,
    settings,
    trust,
    log: quietLog,
    operator: once(() => observeOperator({ api, leaseNamespace, now, signal }, notSeen)),
    views: openSharedViews({ informers, log: quietLog }),
    cephViews: openCephViews({ informers, log: quietLog, trust, rookNamespaces: 'all' }),
  }
}

async function everyCluster(informers: ListInformers): Promise<CephTrust> {
  const clusters = informers.openOptional('cephclusters', { type: cephClusters })
  await informers.settled()
  return { ...trustsNone, named: [...clusters.list()].map((cluster) => keyText(keyOf(cluster))) }
}
