import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { expect, it } from 'vitest'
import { UnreadyOsds } from './unready-osds.ts'

const cluster: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'rook-ceph' },
}

/** Since when the pod counts as not ready, at each of these looks. */
function since(looks: readonly { readonly nowMs: number; readonly isPodReady: boolean }[]): (number | undefined)[] {
  const unready = new UnreadyOsds()
  return looks.map(({ nowMs, isPodReady }) => {
    const osds = [{ id: 0, deployment: 'rook-ceph-osd-0', needsUpdate: false, hasStalled: false, isPodReady }]
    return unready.observe('rook-ceph/rook-ceph', { nowMs, cluster, osds, deployments: new Map() })[0]?.unreadySinceMs
  })
}

it('a pod that was ready in between counts from its next failure: else its Deployment is removed too early', () => {
  const looks = [
    { nowMs: 1_000, isPodReady: false },
    { nowMs: 2_000, isPodReady: false },
    { nowMs: 3_000, isPodReady: true },
    { nowMs: 4_000, isPodReady: false },
  ]
  expect(since(looks)).toEqual([1_000, 1_000, undefined, 4_000])
})
