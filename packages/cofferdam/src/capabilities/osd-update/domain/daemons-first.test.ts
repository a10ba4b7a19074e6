import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { expect, it } from 'vitest'
import { daemonsBehind, parseCephDaemon } from './daemons-first.ts'
import { cephCluster } from './testing/pass-fixture.ts'

const rolledOut = { observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1 }
function mon(given: {
  readonly containers?: Deployment['spec']['template']['spec']['containers']
  readonly status?: Deployment['status']
  readonly generation?: number
}): Deployment {
  const { containers = [{ name: 'mon', image: 'ceph:new' }], status } = given
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph-mon-a', generation: given.generation ?? 2 },
    spec: { selector: {}, template: { spec: { containers } } },
    ...(status !== undefined && { status }),
  }
}
const sidecar = { name: 'logs', image: 'logs:1' }

const table: Record<string, { readonly mon: Deployment; readonly behind: readonly string[] }> = {
  'a mon that is rolled out with the image of the CephCluster holds up no OSD': {
    mon: mon({ status: rolledOut }),
    behind: [],
  },
  'a mon with the older image is waited for: newer OSDs may speak what it does not understand': {
    mon: mon({ status: rolledOut, containers: [{ name: 'mon', image: 'ceph:old' }] }),
    behind: ['rook-ceph-mon-a runs ceph:old'],
  },
  'what a sidecar before the daemon runs says nothing of it': {
    mon: mon({ status: rolledOut, containers: [sidecar, { name: 'mon', image: 'ceph:new' }] }),
    behind: [],
  },
  'where no container has the name of a daemon the first one counts: an older mon is not passed over': {
    mon: mon({ status: rolledOut, containers: [{ name: 'ceph-mon', image: 'ceph:old' }] }),
    behind: ['rook-ceph-mon-a runs ceph:old'],
  },
  'a Deployment that has no status yet is not ready': {
    mon: mon({}),
    behind: ['rook-ceph-mon-a is not ready with the new image'],
  },
  'a status of before the change does not count': {
    mon: mon({ status: rolledOut, generation: 3 }),
    behind: ['rook-ceph-mon-a is not ready with the new image'],
  },
}

it.each(Object.entries(table))('%s', (_, { mon: deployment, behind }) => {
  expect(daemonsBehind([parseCephDaemon(deployment)], cephCluster())).toEqual(behind)
})

it('a CephCluster that names no image holds up no OSD, for there is nothing that mons could be behind', () => {
  const { spec: _, ...bare } = cephCluster()
  expect(daemonsBehind([parseCephDaemon(mon({}))], bare)).toEqual([])
})
