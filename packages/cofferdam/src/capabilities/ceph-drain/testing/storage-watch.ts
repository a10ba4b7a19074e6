import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { ledgerObject } from '../../../ledger/store/testing/ledger-stage.ts'
import { type CephStage, namespace } from './ceph-stage.ts'

export const storageKey = 'storage/rook-ceph/rook-ceph'

export async function osdBudgetsOf(stage: CephStage): Promise<string[]> {
  return (await stage.budgets()).filter((text) => text.startsWith('rook-ceph-osd'))
}

/** Who holds the storage: `x by ceph-drain, Acting`. */
export async function storageHolders(stage: CephStage): Promise<string[]> {
  const { status } = await ledgerObject(stage.api)
  return (status?.entries ?? [])
    .filter((entry) => entry.key === storageKey)
    .map(
      ({ scope, requestId, state }) =>
        `${scope} by ${requestId.startsWith('ceph-drain/') ? 'ceph-drain' : 'a request'}, ${state}`,
    )
    .sort()
}

/** Zones that miss an OSD of theirs at this moment. */
export async function zonesDownIn(stage: CephStage): Promise<string[]> {
  const { items } = await stage.api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
  const down = items.filter(({ status }) => (status?.readyReplicas ?? 0) === 0)
  return [...new Set(down.map(({ spec }) => spec.template?.metadata?.labels?.['topology-location-zone'] ?? '?'))].sort()
}

/** Lets time go by, and tells every set of zones that missed OSDs together. */
export async function watchZonesOf(stage: CephStage, seconds: number): Promise<string[]> {
  const seen = new Set<string>()
  for (let second = 0; second < seconds; second += 1) {
    await stage.seconds(1)
    seen.add((await zonesDownIn(stage)).join('+'))
  }
  return [...seen].sort()
}
