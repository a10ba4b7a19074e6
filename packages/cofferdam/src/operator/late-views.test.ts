import { cephFilesystems, cephObjectStores } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type CephFixture,
  namespace,
  openCephFixture,
  smallCluster,
} from '../capabilities/ceph-drain/testing/ceph-fixture.ts'
import { lateApi } from './testing/late-api.ts'

let fixture: CephFixture

afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

const lateSeconds = 60

type Name = 'ceph-drain' | 'ceph-static-budgets'
interface Late {
  readonly type: ResourceType<KubeObject>
  readonly labelSelector?: string
}

/** Another process takes over, and reads one collection a minute after all the others. */
function takeOver(name: Name, late: Late): void {
  const api = lateApi(fixture, { ...late, seconds: lateSeconds })
  fixture.written.length = 0
  fixture.operate({ api, controllers: [name] })
}

async function runFor(seconds: number, name: Name): Promise<void> {
  const operator = fixture.operate({ controllers: [name] })
  await fixture.seconds(seconds)
  const stopped = operator.stop()
  await fixture.seconds(30)
  await stopped
}

async function bringRook(): Promise<void> {
  const rook = deployment('rook-ceph-operator', { replicas: 1 })
  const labels = { operator: 'rook', 'storage-backend': 'ceph' }
  await fixture.api.create(deployments, { ...rook, metadata: { ...rook.metadata, namespace, labels } })
}

const budgetWrites = () => fixture.written.filter((write) => write.includes('poddisruptionbudgets/'))
const rookOperators: Late = { type: deployments, labelSelector: rookOperatorSelector }

describe('ceph-drain, right after a start', () => {
  it("leaves the budgets to Rook while Rook's operator has not been read yet: two would write the same ones", async () => {
    fixture = await openCephFixture()
    await bringRook()
    takeOver('ceph-drain', rookOperators)
    await fixture.seconds(lateSeconds + 60)
    expect([await fixture.budgets(), budgetWrites()]).toEqual([[], []])
    expect((await fixture.observed()).metadata.annotations?.['cofferdam.io/reason']).toBe('BudgetsContested')
  })

  const unread: Readonly<Record<string, Late>> = {
    'nodes are not taken for drained: the failure domain of an OSD that crashed is not opened for its others': {
      type: nodes,
    },
    'Deployments of OSDs are not taken for removed': { type: deployments, labelSelector: 'app=rook-ceph-osd' },
  }
  it.each(Object.entries(unread))('unread %s', async (_, late) => {
    fixture = await openCephFixture()
    const scale = { type: 'merge' as const, body: { spec: { replicas: 0 } } }
    await fixture.api.patch(deployments, { namespace, name: 'rook-ceph-osd-0' }, scale)
    await runFor(120, 'ceph-drain')
    const before = await outcome()
    takeOver('ceph-drain', late)
    await fixture.seconds(lateSeconds - 10)
    expect([await outcome(), budgetWrites()]).toEqual([before, []])
    await fixture.seconds(60)
    expect([await outcome(), budgetWrites()]).toEqual([before, []])
  })

  async function outcome() {
    const { data = {}, metadata } = await fixture.record()
    const { out } = await fixture.ceph.commands.run({ prefix: 'osd dump' })
    return {
      budgets: await fixture.budgets(),
      draining: data['draining-failure-domain'],
      reason: metadata.annotations?.['cofferdam.io/reason'],
      problems: metadata.annotations?.['cofferdam.io/problems'],
      noout: (JSON.parse(out) as { crush_node_flags: object }).crush_node_flags,
      told: await fixture.told(),
    }
  }
})

describe('ceph-static-budgets, right after a start', () => {
  const services = `${smallCluster}
  filesystems: [{ name: files, active: 1, standby: true }]
  objectStores: [{ name: store, instances: 3 }]
`
  const all = [
    'rook-ceph-mds-files: at least 1 of rook_file_system=files',
    'rook-ceph-mgr-pdb: 1 of app=rook-ceph-mgr',
    'rook-ceph-mon-pdb: 1 of app=rook-ceph-mon',
    'rook-ceph-rgw-store: at least 2 of rgw=store',
  ]

  it.each([
    ['filesystems', cephFilesystems],
    ['object stores', cephObjectStores],
  ] as const)('does not take the budgets of unread %s away', async (_, type) => {
    fixture = await openCephFixture(services)
    await runFor(60, 'ceph-static-budgets')
    expect(await fixture.budgets()).toEqual(all)
    takeOver('ceph-static-budgets', { type })
    await fixture.seconds(lateSeconds + 30)
    expect([await fixture.budgets(), budgetWrites()]).toEqual([all, []])
  })

  it("writes nothing beside Rook while Rook's operator has not been read yet", async () => {
    fixture = await openCephFixture(services)
    await bringRook()
    takeOver('ceph-static-budgets', rookOperators)
    await fixture.seconds(lateSeconds + 30)
    expect([await fixture.budgets(), budgetWrites()]).toEqual([[], []])
  })
})
