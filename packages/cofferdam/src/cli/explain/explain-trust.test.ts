import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import {
  type OsdUpdateFixture,
  openOsdUpdateFixture,
} from '../../capabilities/osd-update/testing/osd-update-fixture.ts'
import { installDefinitions } from '../../ledger/store/testing/ledger-fixture.ts'
import { createStatusCommand } from '../status/status.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createExplainCommand } from './explain.ts'

let fixture: OsdUpdateFixture
afterEach(() => fixture.close())

const hint = 'not named: observed only; to manage it add it to --ceph-clusters of the operator'

it('status and explain count the clusters that the operator counts, and say of any other how to have it managed', async () => {
  fixture = await openOsdUpdateFixture()
  await installDefinitions(fixture.api)
  const metadata = { namespace: 'team-a', name: 'mine' }
  await fixture.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } })
  await fixture.api.create(cephClusters, {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata,
    spec: { disruptionManagement: { managePodBudgets: true } },
  } as CephCluster)
  fixture.operate({ controllers: ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] })
  await fixture.seconds(120)
  const ports = { connect: inProcess(fixture.api).connect, clock: fixture.clock }
  const status = await runCommand(createStatusCommand(ports), 'status', '-o', 'wide')
  const lines = status.out.split('\n').filter((line) => line.startsWith('Storage') || line.startsWith('Updates'))
  expect(lines).toEqual([
    expect.stringContaining('rook-ceph/rook-ceph: AnyOsdMayGo'),
    `Storage   team-a/mine: ClusterNotNamed: ${hint}`,
  ])
  const explain = async (object: string) => (await runCommand(createExplainCommand(ports), 'explain', object)).out
  expect(await explain('cephcluster/team-a/mine')).toBe(
    [
      'cephcluster/team-a/mine  free: None of its OSDs runs, so none blocks a drain.',
      '',
      '  ceph      unknown: no operator has recorded it',
      `  update    ClusterNotNamed: ${hint}`,
      '',
    ].join('\n'),
  )
  expect(await explain('cephcluster/rook-ceph/rook-ceph')).toContain('all 6 OSDs up to date')
})
