import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { ledgerObject } from '../../../ledger/store/testing/ledger-fixture.ts'
import { type CephFixture, namespace } from './ceph-fixture.ts'

export const storageKey = 'storage/rook-ceph/rook-ceph'

export async function osdBudgetsOf(fixture: CephFixture): Promise<string[]> {
  return (await fixture.budgets()).filter((text) => text.startsWith('rook-ceph-osd'))
}

/** Who holds the storage: `x by ceph-drain, Acting`. */
export async function storageHolders(fixture: CephFixture): Promise<string[]> {
  const { status } = await ledgerObject(fixture.api)
  return (status?.entries ?? [])
    .filter((entry) => entry.key === storageKey)
    .map(
      ({ scope, requestId, state }) =>
        `${scope} by ${requestId.startsWith('ceph-drain/') ? 'ceph-drain' : 'a request'}, ${state}`,
    )
    .sort()
}

/** Zones that miss an OSD of theirs at this moment. */
export async function zonesDownIn(fixture: CephFixture): Promise<string[]> {
  const { items } = await fixture.api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
  const down = items.filter(({ status }) => (status?.readyReplicas ?? 0) === 0)
  return [...new Set(down.map(({ spec }) => spec.template?.metadata?.labels?.['topology-location-zone'] ?? '?'))].sort()
}

/** Lets time go by, and tells every set of zones that missed OSDs together. */
export async function watchZonesOf(fixture: CephFixture, seconds: number): Promise<string[]> {
  const seen = new Set<string>()
  for (let second = 0; second < seconds; second += 1) {
    await fixture.seconds(1)
    seen.add((await zonesDownIn(fixture)).join('+'))
  }
  return [...seen].sort()
}
